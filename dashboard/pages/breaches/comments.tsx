import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Pending } from "../../components/notice.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { count } from "../../text/words.ts";

/** How many comments are loaded at first, and how many more each time. */
const step = 20;

type Properties = { breachId: string; onClose: () => void; onAdded: () => void };

/** What people say of a breach, newest first. */
export function CommentsDialog({ breachId, onClose, onAdded }: Properties) {
  const [limit, setLimit] = useState(step);
  // A comment that is sent leaves an empty field.
  const [sent, setSent] = useState(0);
  const data = useData(String(limit), (signal) =>
    call("GET /dashboard/breaches/{id}/comments", { path: { id: breachId }, query: { limit } }, { signal }),
  );
  const action = useAction();
  const { value } = data;
  const comments = value?.comments ?? [];
  return (
    <Dialog title="Comments on this breach" onClose={onClose} button="Close" isWide>
      <Form
        key={sent}
        action={action}
        submit="Comment"
        onSubmit={async (fields) => {
          const body = { text: String(fields.get("text")) };
          await call("POST /dashboard/breaches/{id}/comments", { path: { id: breachId }, body });
          setSent(sent + 1);
          data.reload();
          onAdded();
          return undefined;
        }}
      >
        <TextField
          label="Your comment"
          name="text"
          rows={3}
          maxLength={1000}
          required
          missing="Write the comment first."
          hint="Everybody in the organization can read it, and it cannot be deleted."
        />
      </Form>
      <Pending data={data} what="the comments" />
      {value?.total === 0 && <p class="muted">Nobody has commented yet.</p>}
      <ul class="comments">
        {comments.map(({ id, author, createdAt, text }) => (
          <li key={id}>
            <bdi>{author.label}</bdi>, <When time={createdAt} />
            <p class="typed" dir="auto">
              {text}
            </p>
          </li>
        ))}
      </ul>
      {value !== undefined && value.total > comments.length && limit < 100 && (
        <Button kind="quiet" isBusy={data.isLoading} onClick={() => setLimit(Math.min(100, limit + step))}>
          Older ones
        </Button>
      )}
      {value !== undefined && value.total > 100 && limit === 100 && (
        <p class="muted">{count(value.total - 100, "older comment is", "older comments are")} not shown.</p>
      )}
    </Dialog>
  );
}
