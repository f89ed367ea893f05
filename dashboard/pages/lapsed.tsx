import { Page } from "../components/page.tsx";

const reasons: Record<string, { what: string; todo: string }> = {
  trial_expired: {
    what: "The trial has expired.",
    todo: "To continue, subscribe. Ask your operator how: they set up the trial.",
  },
  subscription_inactive: {
    what: "The subscription is not active.",
    todo: "Renew it, or ask your operator why it ended.",
  },
  price_not_recognized: {
    what: "The subscription has a price that is not recognized.",
    todo: "Ask your operator to correct the subscription's price.",
  },
  collection_paused: {
    what: "The subscription is active, but its billing is paused.",
    todo: "Ask support to resume it: nobody else can.",
  },
};

/** What a lapsed subscription means; also part of Settings. */
export function LapsedMeaning() {
  return (
    <ul>
      <li>Nothing is deleted: addresses, findings and settings stay as they are.</li>
      <li>Nothing is scanned and no alerts are sent. Alerts that have not arrived yet wait.</li>
      <li>
        The dashboard and the API show nothing until the subscription is renewed. Then everything is as
        before.
      </li>
    </ul>
  );
}

export function LapsedPage({ reason }: { reason: string }) {
  const { what, todo } = reasons[reason] ?? {
    what: "The subscription has lapsed.",
    todo: "Ask your operator.",
  };
  return (
    <Page title="Subscription lapsed">
      <p class="lead">{what}</p>
      <p>{todo}</p>
      <h2>What happens to your data</h2>
      <LapsedMeaning />
    </Page>
  );
}
