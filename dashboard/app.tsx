import type { ComponentType } from "preact";
import { access, lapsed } from "./api/access.ts";
import { Frame } from "./frame.tsx";
import { ActivityPage } from "./pages/activity.tsx";
import { AlertsPage } from "./pages/alerts.tsx";
import { DomainsPage } from "./pages/domains.tsx";
import { EmailsPage } from "./pages/emails.tsx";
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
  "/emails": EmailsPage,
  "/domains": DomainsPage,
  "/scans": ScansPage,
  "/alerts": AlertsPage,
  "/activity": ActivityPage,
  "/settings": SettingsPage,
};

export function App() {
  const { path } = place.value;
  if (path === "/recipient") return <RecipientPage />;
  if (path === "/sign-in" || access.value === "signed out") return <SignInPage />;
  const section = `/${path.split("/")[1]}`;
  const isSettings = section === "/settings";
  const Current = pages[isSettings ? section : path] ?? NotFoundPage;
  return (
    <>
      <Frame section={section}>
        {lapsed.value === undefined ? <Current key={section} /> : <LapsedPage reason={lapsed.value} />}
      </Frame>
      {access.value === "ended" && <SignInDialog />}
    </>
  );
}
