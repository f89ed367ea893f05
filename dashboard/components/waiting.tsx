import { useEffect, useState } from "preact/hooks";

/** Says that requests wait, and for how long. `until` is in Unix milliseconds. */
export function Waiting({ until }: { until: number }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const count = (): void => setSeconds(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    count();
    const timer = setInterval(count, 1000);
    return () => clearInterval(timer);
  }, [until]);
  return (
    <div class="notice waiting">
      <p role="status">Too many requests at once. The page continues by itself in a moment.</p>
      <p aria-hidden="true">{seconds} s</p>
    </div>
  );
}
