/** What people are called, or call something: of any length, in any script and direction. */
export function Name({ text }: { text: string | null }) {
  if (text === null) return <span class="muted none">–</span>;
  return (
    <bdi class="clamp" title={text}>
      {text}
    </bdi>
  );
}
