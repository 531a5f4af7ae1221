"""What search engines, link cards, citation managers and the site's own search find."""

import functools
import http.server
import json
import re
import struct
import threading
from html import unescape

import pytest

from lib import claims
from lib.book import card, cite, meta
from tests import building
from tests.browsing import Quiet, pages, visit

pytestmark = pytest.mark.xdist_group("site")


def tags(html):
    """Return the meta tags of a page by their names."""
    found = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)"', html)
    return {name: unescape(content) for name, content in found}


def read(site, name):
    return (site / name).read_text("utf8")


def test_every_page_describes_itself(site):
    for name in pages(site):
        found = tags(read(site, name))
        assert 20 <= len(found["description"]) <= meta.LONGEST, name
        assert found["description"] == found["og:description"], name
        assert not re.search(r"[<>\\{}]", found["description"]), name
        assert found["og:title"] == found["citation_title"] == found["DC.title"], name
        assert not re.match(r"\d+\.", found["og:title"]) and "<" not in found["og:title"], name
        assert found["DC.publisher"] == cite.REPORT
        assert found["DC.creator"] == found["citation_author"] == cite.AUTHORS
        assert found["citation_publication_date"] == found["DC.date"].replace("-", "/")
        assert "og:image" not in found and "og:url" not in found  # they need the site's address


def test_citations_agree_with_the_citation_file():
    assert meta.CITATION["title"] == cite.REPORT and meta.CITATION["date-released"].year == cite.YEAR
    assert meta.CITATION["authors"] == [{"name": cite.AUTHORS}]


def test_every_claim_and_derivation_is_an_entry_of_the_search(site):
    index = json.loads(read(site, "searchindex.js").removeprefix("Search.setIndex(").removesuffix(")"))
    derivations = json.loads(read(site, "derivations.json"))
    assert len(derivations) > 20
    for wanted in [c.id for c in claims.load()] + [d["id"] for d in derivations]:
        places = index["indexentries"][wanted.lower()]  # its own place, and the other pages that show it
        assert sum(main for _, _, main in places) == 1, wanted
        assert len({number for number, _, _ in places}) == len(places), wanted
        for number, anchor, _ in places:
            assert f' id="{anchor}"' in read(site, f"{index['docnames'][number]}.html"), (wanted, anchor)


@pytest.mark.parametrize(("query", "target"), [
    ("A-28", "reference/audit.html#claim-a-28"), ("claim b-45", "reference/audit.html#claim-b-45"),
    ("D-04", "scaling/general_model.html#thm-d-04"), ("theorem D-01", "scaling/background.html#thm-d-01")])
def test_search_finds_ids(address, browser, query, target):
    page = visit(browser, f"{address}search.html?q={query}", [])
    first = page.locator("#search-results li a").first
    first.wait_for()
    assert first.get_attribute("href").endswith(target)
    first.click()
    page.wait_for_url(f"**/{target}")
    assert page.locator(f"#{target.split('#')[1]}").is_visible()
    page.close()


def results(browser, address, query):
    """Return the address and the text of each result, and what is marked in all of them."""
    page = visit(browser, f"{address}search.html?q={query}", [])
    page.wait_for_function("() => document.querySelector('.search-summary').textContent.includes('finished')")
    page.wait_for_function("() => [...document.querySelectorAll('#search-results li')].every(e => e.querySelector('p, span'))")
    found = page.evaluate("""() => [...document.querySelectorAll('#search-results li')].map(e =>
        [e.querySelector('a').getAttribute('href'), (e.querySelector('p.context') || {textContent: ''}).textContent])""")
    marked = page.evaluate("() => [...document.querySelectorAll('.highlighted')].map(e => e.textContent)")
    page.evaluate("localStorage.clear()")  # the next page would mark the words of the search
    page.close()
    return found, marked


def test_a_claim_is_found_in_the_audit_first_and_then_where_it_is_discussed(address, browser):
    found, marked = results(browser, address, "A-28")
    assert found[0][0] == "reference/audit.html#claim-a-28"
    assert any(place.startswith("scaling/model_size.html#") for place, _ in found[1:])
    assert all("A-28" in text for _, text in found)
    assert set(marked) == {"A-28"}  # the id as a whole, not each letter of it


def test_a_derivation_is_found_at_its_theorem_and_in_the_list(address, browser):
    found, marked = results(browser, address, "D-04")
    assert [place for place, _ in found][0] == "scaling/general_model.html#thm-d-04"
    assert "reference/derivations.html#entry-d-04" in dict(found) and set(marked) == {"D-04"}


def test_excerpts_begin_with_the_text_of_the_page(address, browser):
    found, marked = results(browser, address, "flatness")
    assert found and not [text for _, text in found if re.search(r"\.ipynb|\.md|\.pdf|Contents", text[:40])]
    assert {word.lower() for word in marked} == {"flatness"}


def test_the_magnifier_stands_beside_the_words(address, browser):
    page = visit(browser, f"{address}search.html?q=D-04", [])
    icon, field = (page.locator(f".bd-search-container form {part}").bounding_box() for part in ("i", "input"))
    inset = page.locator(".bd-search-container form input").evaluate("e => parseFloat(getComputedStyle(e).paddingLeft)")
    page.close()
    assert icon["width"] > 0 and icon["x"] + icon["width"] <= field["x"] + inset


class WithNotFoundPage(Quiet):
    """Answers a wrong address as servers of static sites do: with 404.html."""

    def send_error(self, code, message=None, explain=None):
        self.send_response(code)
        self.end_headers()
        self.wfile.write(open(f"{self.directory}/404.html", "rb").read())


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Build a small part of the report for a known address; return the folder and the address."""
    out, copy = tmp_path_factory.mktemp("known"), building.scratch(tmp_path_factory.mktemp("part"))
    (copy / "_toc.yml").write_text("format: jb-book\nroot: reference/notation\n"
                                   "chapters:\n- file: scaling/background.ipynb\n")
    html = out / "_build" / "html"
    answer = functools.partial(WithNotFoundPage, directory=str(html))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SITE_URL", f"{address}/")
        result = building.build(out, copy)  # with warnings: most pages are left out
    assert (html / "index.html").exists(), result.stdout[-4000:]
    yield html, address
    server.shutdown()
    server.server_close()


def test_known_address_gives_full_links_and_a_map(known):
    html, address = known
    page = read(html, "scaling/background.html")
    found = tags(page)
    here = f"{address}/scaling/background.html"
    assert found["og:url"] == found["DC.identifier"] == found["citation_public_url"] == here
    assert f'<link rel="canonical" href="{here}"' in page and f"url = {{{here}}}" in page
    listed = re.findall("<loc>(.*?)</loc>", read(html, "sitemap.xml"))
    assert here in listed and all((html / place.removeprefix(f"{address}/")).exists() for place in listed)
    assert found["twitter:card"] == "summary_large_image" and found["og:image"].startswith(f"{address}/")


def test_card_is_a_picture_of_the_size_it_says(known):
    html, address = known
    picture = html / tags(read(html, "scaling/background.html"))["og:image"].removeprefix(f"{address}/")
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG") and struct.unpack(">II", head[16:]) == (card.WIDTH, card.HEIGHT)


def test_curve_of_the_card_has_its_lowest_point_where_it_is_marked():
    curve, (best,) = card.loss()
    lowest = min(curve, key=lambda row: row["lost"])
    assert lowest["lost"] == pytest.approx(best["lost"], rel=1e-3) and lowest["lost"] >= best["lost"]


def test_wrong_address_leads_back_from_any_depth(known, browser):
    html, address = known
    trouble = []
    page = visit(browser, f"{address}/no/such/page.html", trouble)
    assert page.get_by_role("heading", level=1).inner_text().startswith("There is no such page")
    assert [t for t in trouble if not t.startswith(("404", "console: Failed to load resource"))] == []
    assert sum(t.startswith("404") for t in trouble) == 1  # the page itself, and nothing that it asks for
    page.get_by_label("Search for a word").fill("D-01")
    page.keyboard.press("Enter")
    page.locator("#search-results li a").first.click()
    page.wait_for_url(f"{address}/scaling/background.html#thm-d-01")
    page.close()
