import type { ComponentType } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { access, lapsed } from "./api/access.ts";
import { Button } from "./components/button.tsx";
import { NotFoundPage } from "./components/not-found.tsx";
import { Entrance, Frame } from "./frame.tsx";
import { onDemand } from "./on-demand.tsx";
import { place } from "./router.ts";

const SignInPage = onDemand(async () => (await import("./pages/sign-in.tsx")).SignInPage);
const SignInDialog = onDemand(async () => (await import("./pages/sign-in.tsx")).SignInDialog);
const LapsedPage = onDemand(async () => (await import("./pages/lapsed.tsx")).LapsedPage);
const RecipientPage = onDemand(async () => (await import("./pages/recipient.tsx")).RecipientPage);

const pages: Record<string, ComponentType> = {
  "/": onDemand(async () => (await import("./pages/overview.tsx")).OverviewPage),
  "/findings": onDemand(async () => (await import("./pages/findings.tsx")).FindingsPage),
  "/breaches": onDemand(async () => (await import("./pages/breaches.tsx")).BreachesPage),
  "/emails": onDemand(async () => (await import("./pages/emails.tsx")).EmailsPage),
  "/domains": onDemand(async () => (await import("./pages/domains.tsx")).DomainsPage),
  "/domains/unwatched": onDemand(async () => (await import("./pages/domains/unwatched.tsx")).UnwatchedPage),
  "/scans": onDemand(async () => (await import("./pages/scans.tsx")).ScansPage),
  "/alerts": onDemand(async () => (await import("./pages/alerts.tsx")).AlertsPage),
  "/activity": onDemand(async () => (await import("./pages/activity.tsx")).ActivityPage),
  "/settings": onDemand(async () => (await import("./pages/settings.tsx")).SettingsPage),
};

/** Pages of one thing, such as /findings/7. */
const pagesOfOne: Record<string, ComponentType<{ id: string }>> = {
  "/findings": onDemand(async () => (await import("./pages/findings/details.tsx")).FindingPage),
  "/breaches": onDemand(async () => (await import("./pages/breach.tsx")).BreachPage),
  "/emails": onDemand(async () => (await import("./pages/emails/person.tsx")).PersonPage),
};

export function App() {
  const [error] = useErrorBoundary((error) => console.error(error));
  const { path } = place.value;
  if (error !== undefined) return <Failed />;
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

/** Instead of a blank page. */
function Failed() {
  return (
    <Entrance title="The page failed">
      <p>Reload it. If it fails again, an extension of your browser may be in its way.</p>
      <Button kind="primary" onClick={() => location.reload()}>
        Reload
      </Button>
    </Entrance>
  );
}
