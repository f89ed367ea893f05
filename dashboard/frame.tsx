import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { waitsUntil } from "./api/access.ts";
import { Button } from "./components/button.tsx";
import { FailureNotice } from "./components/notice.tsx";
import { Shortcuts } from "./components/shortcuts.tsx";
import { Status } from "./components/status.tsx";
import { useAction } from "./components/use-action.ts";
import { Waiting } from "./components/waiting.tsx";
import { useAllPages } from "./on-demand.tsx";
import { addressOf } from "./place.ts";
import { loadSession, session, sessionFailure, signOut } from "./session.ts";

const sections = [
  ["/", "Overview"],
  ["/findings", "Findings"],
  ["/breaches", "Breaches"],
  ["/emails", "E-mails"],
  ["/domains", "Domains"],
  ["/scans", "Scans"],
  ["/alerts", "Alerts"],
  ["/activity", "Activity"],
  ["/settings", "Settings"],
] as const;

/** What is around every page: navigation, who is signed in, where the data comes from. */
export function Frame({ section, children }: { section: string; children: ComponentChildren }) {
  useAllPages();
  const nav = useRef<HTMLElement>(null);
  // Where the navigation scrolls, the present page is in sight.
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && link) nav.current.scrollLeft = link.offsetLeft - nav.current.clientWidth / 2;
  }, [section]);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="side">
        <Product />
        <nav ref={nav} aria-label="Main">
          {sections.map(([path, name]) => (
            <a key={path} href={addressOf(path)} aria-current={section === path ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <Account />
      </header>
      <div class="body">
        <main id="content" tabIndex={-1}>
          {waitsUntil.value !== undefined && <Waiting until={waitsUntil.value} />}
          {children}
        </main>
        <Attribution />
      </div>
      <Status />
      <Shortcuts />
    </div>
  );
}

function Account() {
  const action = useAction();
  const [name, domain] = session.value?.user.email.split("@") ?? [];
  return (
    <div class="account">
      <FailureNotice failure={sessionFailure.value} retry={() => void loadSession()} />
      <FailureNotice failure={action.failure} />
      {session.value !== undefined && (
        <p>
          <bdi class="organization clamp" title={session.value.organization.name}>
            {session.value.organization.name}
          </bdi>
          <bdi class="muted">
            {name}
            <wbr />@{domain}
          </bdi>
        </p>
      )}
      <Button kind="quiet" isBusy={action.isBusy} onClick={() => void action.run(signOut)}>
        Sign out
      </Button>
    </div>
  );
}

/** The frame of pages that need no session. */
export function Entrance({ title, children }: { title: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    document.title = `${title} · Breach Monitor`;
  }, []);
  return (
    <div class="entrance">
      <main>
        <Product />
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </main>
      <Attribution />
    </div>
  );
}

function Product() {
  return (
    <p class="product">
      <img src={addressOf("/icon.svg")} alt="" />
      <bdi>Breach Monitor</bdi>
    </p>
  );
}

function Attribution() {
  return (
    <footer class="attribution">
      Breach data:{" "}
      <a href="https://haveibeenpwned.com/" rel="noreferrer" target="_blank">
        <bdi>Have I Been Pwned</bdi>
      </a>
      ,{" "}
      <a href="https://creativecommons.org/licenses/by/4.0/" rel="noreferrer" target="_blank">
        CC BY 4.0
      </a>
    </footer>
  );
}
