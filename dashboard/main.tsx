import { render } from "preact";
import { App } from "./app.tsx";
import { listen, place, replace } from "./router.ts";
import { loadSession, watchSession } from "./session.ts";
import { withstandTranslators } from "./translation.ts";

withstandTranslators();
listen();
// Some programs that check links encode the "#" that a token stands behind.
const [path, token] = location.pathname.split(/%23/i);
if (token !== undefined) replace(`${path}#${token}`);
// Before the page is drawn: its own request goes out at the same time. Recipients of alerts need no session.
if (place.value.path !== "/recipient") void loadSession();
watchSession();

const root = document.getElementById("app");
if (root !== null) {
  // It tells of a page that does not start.
  root.replaceChildren();
  render(<App />, root);
}
