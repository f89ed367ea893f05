import { number } from "../text/words.ts";

export function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  return (
    <div class="progress">
      <progress aria-label={label} value={done} max={Math.max(1, total)} />
      <span>
        {number(done)} of {number(total)}
      </span>
    </div>
  );
}
