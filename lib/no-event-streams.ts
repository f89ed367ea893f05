/**
 * Replaces `@smithy/core/event-streams` in the bundles. The SDK imports it only for operations that stream
 * events, which no function calls; such a call would fail, because this module exports nothing.
 */
export {};
