"""How does a test use Neo4j Browser as a person does? It types, drops files, clicks, and reads what is drawn."""

import base64
import re
import shutil

from tests.services import missing

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()

RUNNING = "[data-testid=multi-statement-list-icon]:not([title$=success], [title$=error], [title$=skipped])"
ANSWERED = (
    f'[data-testid=frame-loaded-contents], [data-testid=multi-statement-list]:not(:has({RUNNING})), :text("ERROR"), pre'
)
"""What a frame holds when it has its answer: a result, a list of commands that were all run, an error, or a text."""

PASTE = """(editor, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    editor.dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true}));
}"""

DRAWN_NODES = """nodes => nodes.map(node => ({
    id: node.__data__.elementId,
    label: node.__data__.labels[0],
    properties: node.__data__.propertyMap,
    caption: [...node.querySelectorAll('text.caption')].map(line => line.textContent.trim()).join(' '),
    color: node.querySelector('circle.b-outline').getAttribute('fill'),
    diameter: 2 * node.querySelector('circle.b-outline').getAttribute('r'),
}))"""
DRAWN_RELATIONSHIPS = """all => all.map(one => ({
    id: one.__data__.elementId,
    type: one.__data__.type,
    caption: one.__data__.caption,
    color: one.querySelector('path.b-outline').getAttribute('fill'),
}))"""
SETTLED = """frame => {
    const drawn = [...frame.querySelectorAll('svg g.node, svg g.layer')].map(g => g.getAttribute('transform')).join();
    const before = frame.dataset.drawn;
    frame.dataset.drawn = drawn;
    return drawn === before;
}"""


def chromium(playwright):
    """The Chromium of this machine, running without a window; skips or fails without one."""
    program = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if program is None:
        missing(f"No browser for the tests: install one of {', '.join(CHROMIUMS)}.")
    return playwright.chromium.launch(executable_path=program, args=ARGUMENTS)


def is_of_this_machine(url):
    return re.match(r"https?://(127\.0\.0\.1|localhost)[:/]", url) is not None


class NeoBrowser:
    """One page of Neo4j Browser."""

    def __init__(self, page):
        self.page = page
        page.context.route("**/*", lambda r: r.continue_() if is_of_this_machine(r.request.url) else r.abort())

    def log_in(self, address, user, password):
        page = self.page
        page.goto(address)
        page.get_by_test_id("username").fill(user)
        page.get_by_test_id("password").fill(password)
        page.get_by_test_id("connect").click()
        page.get_by_test_id("frameCommand").filter(has_text=":play start").wait_for()
        page.get_by_test_id("activeEditor").wait_for()

    def run(self, command):
        """Pastes a command or a query, runs it, and returns its frame when the answer is there."""
        editor = self.page.locator("[data-testid=activeEditor] textarea.inputarea")
        editor.focus()
        self.page.keyboard.press("ControlOrMeta+a")
        editor.evaluate(PASTE, command)
        return self.run_editor()

    def run_editor(self):
        """Runs what stands in the editor, as `run` does."""
        self.page.evaluate("document.querySelectorAll('[data-testid=frame]').forEach(f => f.dataset.seen = 'yes')")
        self.page.get_by_test_id("editor-Run").click()
        frame = self.page.locator("[data-testid=frame]:not([data-seen])").first
        frame.locator(ANSWERED).first.wait_for()
        return Frame(frame)

    def drop(self, name, content):
        """Drops a file on the editor, from where Browser takes it."""
        file = self.page.evaluate_handle(
            """([name, text]) => {
                const given = new DataTransfer();
                given.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
                return given;
            }""",
            [name, base64.b64encode(content).decode()],
        )
        for event in ("dragenter", "dragover", "drop"):
            self.page.dispatch_event("[data-testid=activeEditor]", event, {"dataTransfer": file})

    def stored(self, key):
        """What Browser keeps under a key."""
        return self.page.evaluate("key => JSON.parse(localStorage.getItem(`neo4j.${key}`))", key)


class Frame:
    """The answer to one command."""

    def __init__(self, locator):
        self.locator = locator

    @property
    def error(self):
        text = self.locator.inner_text()
        return text if "ERROR" in text else ""

    @property
    def nodes(self):
        """The nodes of a drawn graph; waits until it is there."""
        nodes = self.locator.locator("svg g.node")
        nodes.first.wait_for()
        return nodes.evaluate_all(DRAWN_NODES)

    @property
    def relationships(self):
        return self.locator.locator("svg g.relationship").evaluate_all(DRAWN_RELATIONSHIPS)

    @property
    def columns(self):
        return self.locator.locator("table th[role=columnheader]").all_inner_texts()

    @property
    def cells(self):
        return [cell.strip() for cell in self.locator.locator("table td[role=cell]").all_inner_texts()]

    def take_picture(self, path):
        """The whole window with this frame, its graph in the middle of what the overview beside it leaves free."""
        page = self.locator.page
        self.locator.get_by_title("Fullscreen").click()
        self.locator.get_by_label("zoom-to-fit").click()
        self._settle()
        pane = self.locator.get_by_test_id("vizInspector").bounding_box()
        bottom = page.viewport_size["height"] - 30
        page.mouse.move(pane["width"], bottom)
        page.mouse.down()
        page.mouse.move(pane["width"] / 2, bottom, steps=10)
        page.mouse.up()
        self._settle()
        page.screenshot(path=path)
        self.locator.get_by_title("Close fullscreen").click()

    def _settle(self):
        """Waits until nothing moves any more."""
        handle = self.locator.element_handle()
        self.locator.page.wait_for_function(SETTLED, arg=handle, polling=250)
