from docs.make_cli import PAGE, page


def test_the_page_of_commands_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run: python docs/make_cli.py"
