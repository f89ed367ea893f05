import { testRecording } from "./recorded.ts";

testRecording("before-versions.json", { isOfNext: true });
