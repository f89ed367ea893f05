import { render } from "preact";
import { App } from "./app.tsx";
import { listen, place } from "./router.ts";
import { loadSession, watchSession } from "./session.ts";

// Before the page is drawn: its own request goes out at the same time. Whoever has a link needs no session.
if (!["/sign-in", "/recipient"].includes(place.value.path)) void loadSession();
watchSession();
listen();

const root = document.getElementById("app");
if (root !== null) render(<App />, root);
