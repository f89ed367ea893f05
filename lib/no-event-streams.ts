/**
 * Takes the place of `@smithy/core/event-streams` in the bundles. No operation that functions call streams events; the SDK
 * imports this only when one does, and throws then, since nothing it looks for is here.
 */
export {};
