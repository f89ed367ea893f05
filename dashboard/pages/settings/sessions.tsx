import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, type Ends, useDialog } from "../../components/dialog.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Empty, FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { actionsColumn, type Column } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { When } from "../../components/when.tsx";
import { signOut } from "../../session.ts";
import { Passkeys } from "./passkeys.tsx";

type Session = Reply<"GET /dashboard/sessions">["sessions"][number];

export function Sessions() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/sessions", { query }, { signal }));
  const { dialog, show } = useDialog(data.reload);
  const action = useAction();
  const end = ({ id, isCurrent }: Session) =>
    action.run(async () => {
      if (isCurrent) return signOut();
      await call("DELETE /dashboard/sessions/{id}", { path: { id } });
      say("The session was ended.");
      data.reload();
    });
  return (
    <>
      <div class="section-head">
        <p class="prose">
          Where you are signed in to this organization. A session ends after 7 days without use, and after 30
          days at the latest, or after as many hours as your operator has set.
        </p>
        <Button
          disabled={(data.value?.total ?? 0) < 2}
          onClick={() => show((ends) => <EndOthers {...ends} />)}
        >
          Sign out everywhere else
        </Button>
      </div>
      <FailureNotice failure={action.failure} />
      <Listing
        what="sessions"
        data={data}
        rowsOf={({ sessions }) => sessions}
        columns={columns(end, action.isBusy)}
        empty={<Empty title="There are no sessions." />}
      />
      {data.value !== undefined && <Passkeys passkeys={data.value.passkeys} reload={data.reload} />}
      {dialog}
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
        {createdBy === "operator" && <small>created by an operator, not by signing in</small>}
      </>
    ),
  },
  { name: "Last used", width: "time", cell: ({ lastUsedAt }) => <When time={lastUsedAt} /> },
  { name: "Ends", width: "time", cell: ({ expiresAt }) => <When time={expiresAt} /> },
  actionsColumn((session) => [
    { name: session.isCurrent ? "End this session" : "End", act: () => end(session), isOff: isBusy },
  ]),
];

function EndOthers(ends: Ends) {
  const end = async (): Promise<string> => {
    await call("DELETE /dashboard/sessions", {});
    return "All your other sessions were ended.";
  };
  return (
    <Confirm {...ends} title="Sign out everywhere else?" submit="Sign out everywhere else" act={end}>
      All your other sessions end at once. What was typed there and not saved is kept until you sign in again.
    </Confirm>
  );
}
