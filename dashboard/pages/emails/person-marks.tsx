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
