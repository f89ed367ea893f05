import type { VNode } from "preact";

type Marked = { isPrivileged: boolean; hasLeft: boolean };

/** What a directory says of a person that matters at each finding: who has left, and whose account may do much. */
export const PersonMarks = ({ isPrivileged, hasLeft }: Marked) =>
  (isPrivileged || hasLeft) && (
    <>
      {" "}
      {hasLeft && <span class="badge">Left</span>}{" "}
      {isPrivileged && <span class="badge strong">Privileged</span>}
    </>
  );

/** What a row of a table is called, with the marks behind it. Most rows have none, and no element for them. */
export const withMarks = (name: VNode, marked: Marked): VNode =>
  marked.isPrivileged || marked.hasLeft ? (
    <span class="tailed">
      {name}
      {PersonMarks(marked)}
    </span>
  ) : (
    name
  );
