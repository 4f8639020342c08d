"""The catalogue is what the registry says today."""

from pathlib import Path

from bayesrl import registry
from bayesrl.lab import catalogue

PAGE = Path(__file__).parents[2] / "docs" / "catalogue.md"


def test_catalogue_is_up_to_date():
    today = catalogue.page()
    assert PAGE.read_text(encoding="utf-8") == today, "run: python -m bayesrl.lab.catalogue docs/catalogue.md"


def test_every_entry_has_a_section_with_its_parameters():
    page = catalogue.page()
    for entry in registry.entries().values():
        _, found, rest = page.partition(f"\n### {entry.name}\n")
        assert found, entry.name
        section = rest.partition("\n##")[0]
        assert entry.summary in section
        assert all(f"- `{name}: " in section for name in entry.parameters)
