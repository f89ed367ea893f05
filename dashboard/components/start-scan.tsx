import { call } from "../api/client.ts";
import type { Scan } from "../api/routes.ts";
import { Button } from "./button.tsx";
import { FailureNotice } from "./notice.tsx";
import { say } from "./status.tsx";
import { useAction } from "./use-action.ts";

export const isRunning = ({ status }: Pick<Scan, "status">): boolean =>
  status === "pending" || status === "running";

/** `isMinor`: the page is for something else. */
type Properties = { isScanning: boolean; onStarted: () => void; isMinor?: boolean };

export function StartScan({ isScanning, onStarted, isMinor = false }: Properties) {
  const action = useAction();
  const start = async (): Promise<void> => {
    await call("POST /v1/scans", {});
    say("The scan has started. Its progress is shown here.");
    onStarted();
  };
  return (
    <>
      <Button
        kind={isMinor ? undefined : "primary"}
        disabled={isScanning}
        isBusy={action.isBusy}
        onClick={() => void action.run(start)}
      >
        Start scan
      </Button>
      <FailureNotice failure={action.failure} />
    </>
  );
}
