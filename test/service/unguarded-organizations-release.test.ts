import { testRecording } from "./recorded.ts";

testRecording("before-guarded-organizations.json", { isOfNext: false });
