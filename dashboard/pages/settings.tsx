import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { NotFoundPage } from "../components/not-found.tsx";
import { Page } from "../components/page.tsx";
import { onDemand } from "../on-demand.tsx";
import { addressOf } from "../place.ts";
import { go, place } from "../router.ts";
import { ApiKeys } from "./settings/api-keys.tsx";
import { Members } from "./settings/members.tsx";
import { Organization } from "./settings/organization.tsx";
import { Rules } from "./settings/rules.tsx";
import { Sessions } from "./settings/sessions.tsx";
import { Teams } from "./settings/teams.tsx";

const Directories = onDemand(async () => (await import("./settings/directories.tsx")).Directories);

const tabs: readonly { path: string; name: string; content: ComponentType }[] = [
  { path: "/settings/api-keys", name: "API keys", content: ApiKeys },
  { path: "/settings/members", name: "Members", content: Members },
  { path: "/settings/teams", name: "Teams", content: Teams },
  { path: "/settings/directory", name: "Directory", content: Directories },
  { path: "/settings/sessions", name: "Sessions", content: Sessions },
  { path: "/settings/organization", name: "Organization", content: Organization },
  { path: "/settings/rules", name: "Rules", content: Rules },
];

export function SettingsPage() {
  const { path } = place.value;
  const index = path === "/settings" ? 0 : tabs.findIndex((tab) => tab.path === path);
  const tab = tabs[index];
  const list = useRef<HTMLDivElement>(null);
  const hasFocus = useRef(false);
  useEffect(() => {
    if (hasFocus.current) list.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    hasFocus.current = false;
  }, [path]);
  if (tab === undefined) return <NotFoundPage />;
  const turn = (event: KeyboardEvent): void => {
    const last = tabs.length - 1;
    const steps: Record<string, number> = {
      ArrowLeft: index === 0 ? last : index - 1,
      ArrowRight: index === last ? 0 : index + 1,
      Home: 0,
      End: last,
    };
    const next = tabs[steps[event.key] ?? -1];
    if (next === undefined) return;
    event.preventDefault();
    hasFocus.current = true;
    go(next.path);
  };
  const Content = tab.content;
  return (
    <Page title="Settings">
      <div ref={list} class="tabs" role="tablist" aria-label="Settings" onKeyDown={turn}>
        {tabs.map(({ path, name }) => (
          <a
            key={path}
            id={`tab-${path.split("/").at(-1)}`}
            role="tab"
            href={addressOf(path)}
            aria-selected={tab.path === path}
            aria-controls="tab-panel"
            tabIndex={tab.path === path ? 0 : -1}
          >
            {name}
          </a>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab.path.split("/").at(-1)}`}>
        <Content key={tab.path} />
      </div>
    </Page>
  );
}
