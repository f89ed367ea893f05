import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Empty, FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { When } from "../../components/when.tsx";
import { signOut } from "../../session.ts";
import { Passkeys } from "./passkeys.tsx";

type Session = Reply<"GET /dashboard/sessions">["sessions"][number];

export function Sessions() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/sessions", { query }, { signal }));
  const [isAsking, setAsking] = useState(false);
  const action = useAction();
  const end = ({ id, isCurrent }: Session) =>
    action.run(async () => {
      if (isCurrent) return signOut();
      await call("DELETE /dashboard/sessions/{id}", { path: { id } });
      say("The session was ended.");
      data.reload();
    });
  const endOthers = async (): Promise<void> => {
    await call("DELETE /dashboard/sessions", {});
    say("All other sessions were ended.");
    data.reload();
  };
  return (
    <>
      <div class="section-head">
        <p class="prose">
          Where you are signed in to this organization. A session ends by itself after 7 days without use, and
          after 30 days.
        </p>
        <Button disabled={(data.value?.total ?? 0) < 2} onClick={() => setAsking(true)}>
          Sign out everywhere else
        </Button>
      </div>
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
      <Listing
        what="sessions"
        data={data}
        rowsOf={({ sessions }) => sessions}
        totalOf={({ total }) => total}
        keyOf={({ id }) => id}
        columns={columns(end, action.isBusy)}
        empty={<Empty title="There are no sessions." />}
      />
      {data.value !== undefined && <Passkeys passkeys={data.value.passkeys} reload={data.reload} />}
      {isAsking && (
        <FormDialog
          title="Sign out everywhere else?"
          submit="Sign out everywhere else"
          isDanger
          onSubmit={endOthers}
          onClose={() => setAsking(false)}
        >
          <p>
            All your sessions but this one end at once. What is typed there and not saved is kept until you
            sign in.
          </p>
        </FormDialog>
      )}
    </>
  );
}

const columns = (end: (session: Session) => void, isBusy: boolean): Column<Session>[] => [
  {
    name: "Signed in",
    kind: "main",
    width: "rest",
    cell: ({ createdAt, browser, isCurrent, createdBy }) => (
      <>
        {browser ?? "Unknown browser"}, <When time={createdAt} />
        {isCurrent && <small>this session</small>}
        {createdBy === "operator" && <small>made by an operator, not by signing in</small>}
      </>
    ),
  },
  { name: "Last used", width: "time", cell: ({ lastUsedAt }) => <When time={lastUsedAt} /> },
  { name: "Ends", width: "time", cell: ({ expiresAt }) => <When time={expiresAt} /> },
  {
    name: "Actions",
    kind: "actions",
    cell: (session) => (
      <Button kind="quiet" disabled={isBusy} onClick={() => end(session)}>
        {session.isCurrent ? "End this session" : "End"}
      </Button>
    ),
  },
];
