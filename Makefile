# Everything runs in .venv, which the first command makes from the hashed lock.
#   make book     check, re-execute and build the site     make test     all tests
#   make serve    look at the site                          make refresh  execute chapters, store outputs
#   make claims   the ledger in the terminal                make check    do your numbers match the stored ones?
#   make pdf      the report for print                      make help     every command

# The first Python of 3.11 to 3.13 that answers, the environment's own before others; the environment script says so
# where there is none. Only a PYTHON given by hand replaces a complete environment made with another.
PYTHON ?= $(or $(firstword $(foreach p,.venv/bin/python python3 python3.13 python3.12 python3.11,$(shell \
  $(p) -c 'import sys; sys.exit(not (3,11) <= sys.version_info[:2] <= (3,13))' 2>/dev/null && echo $(p)))),python3)
CHOSEN := $(if $(filter command environment,$(origin PYTHON)),--python)
RUN := .venv/bin/python
PYTEST := $(RUN) -m pytest -q
PORT ?= 8000
TEX := texlive-xetex texlive-latex-extra texlive-fonts-recommended fonts-freefont-otf fonts-dejavu-core tex-gyre latexmk xindy

.PHONY: help env book check-outputs site test serve refresh claims check pdf mutants bench lock clean
help:
	@sed -n '2,6p' Makefile
	@echo "#   make bench (ratios of speed, accuracy, weight), make mutants (do the tests notice a changed formula?),"
	@echo "#   make lock (new requirements.txt), make clean"

env:
	@$(PYTHON) tools/environment.py $(CHOSEN)

book: check-outputs site
	@echo "book: done. Open _build/html/index.html, or run: make serve"

check-outputs: env
	@echo "book 1/3: each chapter's Markdown against its stored notebook"
	@$(PYTEST) tests/test_notebooks.py
	@echo "book 2/3: re-executing every chapter and comparing every stored output"
	@$(PYTEST) --nbval --dist loadfile -n 2 chapters

site: env
	@echo "book 3/3: building the site from the notebooks just checked"
	@rm -rf _build/html
	@.venv/bin/jupyter-book build chapters --config _config.yml --toc $(CURDIR)/_toc.yml --path-output . \
	  --all -n -W --keep-going -q

test: env
	@echo "test: library, ledger, derivations, notebooks, build and site"
	@$(PYTEST) -n 2 --dist loadgroup
	@echo "test: done. What each file of tests/ holds is in CONTRIBUTING.md"

serve: env
	@test -f _build/html/index.html || $(MAKE) book
	@$(RUN) tools/serve.py $(PORT)

refresh: env
	@$(RUN) tools/refresh.py $(if $(ALL),--all)

claims: env
	@$(RUN) -m lib.claims

check: env
	@$(RUN) tools/check.py

pdf: env
	@mkdir -p _build
	@for tool in xelatex latexmk; do command -v $$tool >/dev/null || { echo "error: $$tool is not installed; \
	  on Debian: apt install $(TEX)"; exit 1; }; done
	@echo "pdf: typesetting the stored notebooks, this takes some minutes"
	@.venv/bin/jupyter-book build chapters --config _config.yml --toc $(CURDIR)/_toc.yml --path-output _build/print \
	  --builder pdflatex --all -n --keep-going -q > _build/pdf.log 2>&1 || { tail -20 _build/pdf.log; exit 1; }
	@! grep -A2 undefined _build/print/_build/latex/failures-and-checkpoints.log || { echo "error: a reference leads nowhere"; exit 1; }
	@cp _build/print/_build/latex/failures-and-checkpoints.pdf _build/
	@echo "pdf: done. It is _build/failures-and-checkpoints.pdf"

# mutmut is not in the lock: pip refuses the extras that its terminal interface asks for when it checks hashes.
mutants: env
	@$(RUN) -m pip install -q mutmut==3.8.1
	@$(RUN) tools/mutants.py

bench: env
	@for script in benchmarks/bench_*.py; do echo "bench: $$script"; $(RUN) $$script || exit 1; done

lock:
	@uv pip compile --universal --generate-hashes --python-version 3.11 --custom-compile-command "make lock" \
	  -q --upgrade requirements.in -o requirements.txt

clean:
	rm -rf _build .venv .venv-failed.log .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
