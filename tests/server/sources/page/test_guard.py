import pytest
from pluriverse_server.sources.page.guard import may_navigate

ORIGINS = frozenset(("http://page.localhost", "https://example.org"))


@pytest.mark.parametrize("top", [True, False])
def test_page_may_go_to_its_origins_and_nowhere_else(top: bool) -> None:
    may = ("http://page.localhost/a?b#c", "http://page.localhost:80/", "https://EXAMPLE.org/", "about:blank")
    for url in (*may, "blob:https://example.org/0-1-2"):
        assert may_navigate(url, ORIGINS, top=top), url
    for url in (
        *("http://example.org/", "https://example.org.evil.test/", "https://example.org@evil.test/", "http://["),
        *("https://www.example.org/", "https://example.org:8443/", "https://example.org:x/", "http://[::1]/", ""),
        *(
            "http://127.0.0.1:15900/",
            "blob:https://evil.test/0",
            "blob:null/0",
            "file:///etc/passwd",
            "chrome://crash/",
        ),
        *("view-source:https://example.org/", "devtools://devtools/bundled/inspector.html", "javascript:0"),
        "filesystem:https://example.org/temporary/",
    ):
        assert not may_navigate(url, ORIGINS, top=top), url


def test_documents_of_the_pages_own_making_are_for_its_frames() -> None:
    for url in ("about:srcdoc", "data:text/html,hello"):
        assert may_navigate(url, ORIGINS, top=False)
        assert not may_navigate(url, ORIGINS, top=True)
