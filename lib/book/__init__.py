"""What the website needs: charts, derivation records, the Sphinx extension. The science never imports it."""
