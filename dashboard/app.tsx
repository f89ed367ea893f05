import type { ComponentType } from "preact";
import { access, lapsed } from "./api/access.ts";
import { Frame } from "./frame.tsx";
import { ActivityPage } from "./pages/activity.tsx";
import { AlertsPage } from "./pages/alerts.tsx";
import { BreachPage } from "./pages/breach.tsx";
import { BreachesPage } from "./pages/breaches.tsx";
import { UnwatchedPage } from "./pages/domains/unwatched.tsx";
import { DomainsPage } from "./pages/domains.tsx";
import { PersonPage } from "./pages/emails/person.tsx";
import { EmailsPage } from "./pages/emails.tsx";
import { FindingPage } from "./pages/findings/details.tsx";
import { FindingsPage } from "./pages/findings.tsx";
import { LapsedPage } from "./pages/lapsed.tsx";
import { NotFoundPage } from "./pages/not-found.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { RecipientPage } from "./pages/recipient.tsx";
import { ScansPage } from "./pages/scans.tsx";
import { SettingsPage } from "./pages/settings.tsx";
import { SignInDialog, SignInPage } from "./pages/sign-in.tsx";
import { place } from "./router.ts";

const pages: Record<string, ComponentType> = {
  "/": OverviewPage,
  "/findings": FindingsPage,
  "/breaches": BreachesPage,
  "/emails": EmailsPage,
  "/domains": DomainsPage,
  "/domains/unwatched": UnwatchedPage,
  "/scans": ScansPage,
  "/alerts": AlertsPage,
  "/activity": ActivityPage,
  "/settings": SettingsPage,
};

/** Pages of one thing, such as /findings/7. */
const pagesOfOne: Record<string, ComponentType<{ id: string }>> = {
  "/findings": FindingPage,
  "/breaches": BreachPage,
  "/emails": PersonPage,
};

export function App() {
  const { path } = place.value;
  if (path === "/recipient") return <RecipientPage />;
  if (path === "/sign-in" || access.value === "signed out") return <SignInPage />;
  const [, name, id = ""] = path.split("/");
  const section = `/${name}`;
  const PageOfOne = path === `${section}/${id}` && /^\d{1,15}$/.test(id) ? pagesOfOne[section] : undefined;
  const Current = pages[section === "/settings" ? section : path] ?? NotFoundPage;
  const current = PageOfOne ? (
    <PageOfOne key={path} id={id} />
  ) : (
    <Current key={section === "/settings" ? section : path} />
  );
  return (
    <>
      <Frame section={section}>
        {lapsed.value === undefined ? current : <LapsedPage reason={lapsed.value} />}
      </Frame>
      {access.value === "ended" && <SignInDialog />}
    </>
  );
}
