/** What the page asks the service for, with the types of the endpoints' contracts. */
import type * as z from "zod/mini";
import type { acknowledgeBreach } from "../../functions/acknowledge-breach/endpoint.ts";
import type { acknowledgeBreaches } from "../../functions/acknowledge-breaches/endpoint.ts";
import type { addDomain } from "../../functions/add-domain/endpoint.ts";
import type { addEmail } from "../../functions/add-email/endpoint.ts";
import type { assignEmail } from "../../functions/assign-email/endpoint.ts";
import type { changeAlertConfig } from "../../functions/change-alert-config/endpoint.ts";
import type { changeEmail } from "../../functions/change-email/endpoint.ts";
import type { changeEmails } from "../../functions/change-emails/endpoint.ts";
import type { changeMember } from "../../functions/change-member/endpoint.ts";
import type { changeOrganization } from "../../functions/change-organization/endpoint.ts";
import type { changePasskeys } from "../../functions/change-passkeys/endpoint.ts";
import type { changeTeam } from "../../functions/change-team/endpoint.ts";
import type { checkDomain } from "../../functions/check-domain/endpoint.ts";
import type { commitImport } from "../../functions/commit-import/endpoint.ts";
import type { confirmRecipient } from "../../functions/confirm-recipient/endpoint.ts";
import type { createAlertConfig } from "../../functions/create-alert-config/endpoint.ts";
import type { createApiKey } from "../../functions/create-api-key/endpoint.ts";
import type { createSignInLink } from "../../functions/create-sign-in-link/endpoint.ts";
import type { createTeam } from "../../functions/create-team/endpoint.ts";
import type { deleteAlertConfig } from "../../functions/delete-alert-config/endpoint.ts";
import type { deleteTeam } from "../../functions/delete-team/endpoint.ts";
import type { endSession } from "../../functions/end-session/endpoint.ts";
import type { findEmails } from "../../functions/find-emails/endpoint.ts";
import type { getAcknowledgement } from "../../functions/get-acknowledgement/endpoint.ts";
import type { getDelivery } from "../../functions/get-delivery/endpoint.ts";
import type { getEmail } from "../../functions/get-email/endpoint.ts";
import type { getFinding } from "../../functions/get-finding/endpoint.ts";
import type { getFoundBreach } from "../../functions/get-found-breach/endpoint.ts";
import type { getOrganization } from "../../functions/get-organization/endpoint.ts";
import type { getOverview } from "../../functions/get-overview/endpoint.ts";
import type { getRecipient } from "../../functions/get-recipient/endpoint.ts";
import type { getReopening } from "../../functions/get-reopening/endpoint.ts";
import type { getSession } from "../../functions/get-session/endpoint.ts";
import type { getSignIn } from "../../functions/get-sign-in/endpoint.ts";
import type { ignoreUnwatched } from "../../functions/ignore-unwatched/endpoint.ts";
import type { inviteMember } from "../../functions/invite-member/endpoint.ts";
import type { listActivity } from "../../functions/list-activity/endpoint.ts";
import type { listAlertConfigs } from "../../functions/list-alert-configs/endpoint.ts";
import type { listApiKeys } from "../../functions/list-api-keys/endpoint.ts";
import type { listDeliveries } from "../../functions/list-deliveries/endpoint.ts";
import type { listDomains } from "../../functions/list-domains/endpoint.ts";
import type { listFindings } from "../../functions/list-findings/endpoint.ts";
import type { listFoundBreaches } from "../../functions/list-found-breaches/endpoint.ts";
import type { listMembers } from "../../functions/list-members/endpoint.ts";
import type { listScans } from "../../functions/list-scans/endpoint.ts";
import type { listSessions } from "../../functions/list-sessions/endpoint.ts";
import type { listTeams } from "../../functions/list-teams/endpoint.ts";
import type { listUnwatched } from "../../functions/list-unwatched/endpoint.ts";
import type { openProvider } from "../../functions/open-provider/endpoint.ts";
import type { previewImport } from "../../functions/preview-import/endpoint.ts";
import type { redeemPasskey } from "../../functions/redeem-passkey/endpoint.ts";
import type { redeemProviderCode } from "../../functions/redeem-provider-code/endpoint.ts";
import type { redeemSignInLink } from "../../functions/redeem-sign-in-link/endpoint.ts";
import type { redeliverAlert } from "../../functions/redeliver-alert/endpoint.ts";
import type { removeDomain } from "../../functions/remove-domain/endpoint.ts";
import type { removeEmail } from "../../functions/remove-email/endpoint.ts";
import type { removeMember } from "../../functions/remove-member/endpoint.ts";
import type { reopenBreaches } from "../../functions/reopen-breaches/endpoint.ts";
import type { resendInvitation } from "../../functions/resend-invitation/endpoint.ts";
import type { revokeApiKey } from "../../functions/revoke-api-key/endpoint.ts";
import type { revokeOtherSessions } from "../../functions/revoke-other-sessions/endpoint.ts";
import type { revokeSession } from "../../functions/revoke-session/endpoint.ts";
import type { setAlertOptions } from "../../functions/set-alert-options/endpoint.ts";
import type { startScan } from "../../functions/start-scan/endpoint.ts";
import type { tellOwners } from "../../functions/tell-owners/endpoint.ts";
import type { testAlertConfig } from "../../functions/test-alert-config/endpoint.ts";
import type { unsubscribeRecipient } from "../../functions/unsubscribe-recipient/endpoint.ts";
import type { watchUnwatched } from "../../functions/watch-unwatched/endpoint.ts";

/** Method and path below /api, by contract. */
type Routes = {
  "GET /dashboard/sign-in": typeof getSignIn;
  "POST /dashboard/sign-in/links": typeof createSignInLink;
  "POST /dashboard/sign-in/sessions": typeof redeemSignInLink;
  "POST /dashboard/sign-in/provider": typeof openProvider;
  "POST /dashboard/sign-in/provider/sessions": typeof redeemProviderCode;
  "POST /dashboard/sign-in": typeof redeemPasskey;
  "GET /dashboard/session": typeof getSession;
  "DELETE /dashboard/session": typeof endSession;
  "GET /dashboard/sessions": typeof listSessions;
  "DELETE /dashboard/sessions": typeof revokeOtherSessions;
  "DELETE /dashboard/sessions/{id}": typeof revokeSession;
  "PATCH /dashboard/sessions": typeof changePasskeys;
  "GET /dashboard/overview": typeof getOverview;
  "GET /dashboard/findings": typeof listFindings;
  "GET /dashboard/findings/{id}": typeof getFinding;
  "GET /dashboard/breaches": typeof listFoundBreaches;
  "GET /dashboard/breaches/{id}": typeof getFoundBreach;
  "GET /dashboard/organization": typeof getOrganization;
  "PATCH /dashboard/organization": typeof changeOrganization;
  "GET /dashboard/api-keys": typeof listApiKeys;
  "POST /dashboard/api-keys": typeof createApiKey;
  "DELETE /dashboard/api-keys/{id}": typeof revokeApiKey;
  "GET /dashboard/domains": typeof listDomains;
  "POST /dashboard/domains": typeof addDomain;
  "POST /dashboard/domains/{id}/check": typeof checkDomain;
  "DELETE /dashboard/domains/{id}": typeof removeDomain;
  "GET /dashboard/teams": typeof listTeams;
  "POST /dashboard/teams": typeof createTeam;
  "PATCH /dashboard/teams/{id}": typeof changeTeam;
  "DELETE /dashboard/teams/{id}": typeof deleteTeam;
  "GET /dashboard/emails": typeof findEmails;
  "POST /dashboard/emails/changes": typeof changeEmails;
  "GET /dashboard/emails/{id}": typeof getEmail;
  "POST /dashboard/findings/tell": typeof tellOwners;
  "GET /dashboard/unwatched": typeof listUnwatched;
  "POST /dashboard/unwatched/watch": typeof watchUnwatched;
  "POST /dashboard/unwatched/ignore": typeof ignoreUnwatched;
  "PATCH /dashboard/emails/{id}": typeof assignEmail;
  "GET /dashboard/members": typeof listMembers;
  "POST /dashboard/members": typeof inviteMember;
  "POST /dashboard/members/{id}/invitation": typeof resendInvitation;
  "PATCH /dashboard/members/{id}": typeof changeMember;
  "DELETE /dashboard/members/{id}": typeof removeMember;
  "GET /dashboard/alert-configs/{id}/deliveries": typeof listDeliveries;
  "GET /dashboard/alert-configs/{id}/deliveries/{deliveryId}": typeof getDelivery;
  "POST /dashboard/alert-configs/{id}/test": typeof testAlertConfig;
  "POST /dashboard/alert-configs/{id}/deliveries/{deliveryId}/redeliver": typeof redeliverAlert;
  "GET /dashboard/recipients/{token}": typeof getRecipient;
  "POST /dashboard/recipients/{token}/confirm": typeof confirmRecipient;
  "POST /dashboard/recipients/{token}/unsubscribe": typeof unsubscribeRecipient;
  "POST /v1/scans": typeof startScan;
  "GET /v1/scans": typeof listScans;
  "GET /v1/activity": typeof listActivity;
  "POST /v1/emails": typeof addEmail;
  "DELETE /v1/emails": typeof removeEmail;
  "PATCH /v1/emails/{id}": typeof changeEmail;
  "POST /v1/emails/import/preview": typeof previewImport;
  "POST /v1/emails/import/commit": typeof commitImport;
  "POST /v1/breaches/acknowledge": typeof acknowledgeBreach;
  "POST /v1/breaches/acknowledgements": typeof acknowledgeBreaches;
  "GET /v1/breaches/acknowledgements/{id}": typeof getAcknowledgement;
  "POST /v1/breaches/reopenings": typeof reopenBreaches;
  "GET /v1/breaches/reopenings/{id}": typeof getReopening;
  "GET /v1/alert-configs": typeof listAlertConfigs;
  "POST /v1/alert-configs": typeof createAlertConfig;
  "PATCH /v1/alert-configs/{id}": typeof changeAlertConfig;
  "DELETE /v1/alert-configs/{id}": typeof deleteAlertConfig;
  "PUT /v1/alert-configs/{id}/options": typeof setAlertOptions;
};
export type RouteName = keyof Routes;

type Part<E, Name extends string> =
  E extends Record<Name, infer S extends z.ZodMiniType> ? z.input<S> : never;
type Parameters<Values> = { readonly [Name in keyof Values]?: string | number | boolean | undefined };

/** What a request of a route is made of. Values of path and query are written as text. */
export type Input<Name extends RouteName> = (Routes[Name] extends { path: z.ZodMiniType }
  ? { path: Required<Parameters<Part<Routes[Name], "path">>> }
  : unknown) &
  (Routes[Name] extends { query: z.ZodMiniType }
    ? { query?: Parameters<Part<Routes[Name], "query">> }
    : unknown) &
  (Routes[Name] extends { body: z.ZodMiniType } ? { body: Part<Routes[Name], "body"> } : unknown) &
  (Routes[Name] extends { upload: unknown } ? { file: File } : unknown);

export type Reply<Name extends RouteName> = z.output<Routes[Name]["reply"]>;

export type Overview = Reply<"GET /dashboard/overview">;
export type Finding = Reply<"GET /dashboard/findings">["findings"][number];
export type FoundBreach = Reply<"GET /dashboard/breaches/{id}">;
export type Email = Reply<"GET /dashboard/emails">["emails"][number];
export type Person = Reply<"GET /dashboard/emails/{id}">;
export type Unwatched = Reply<"GET /dashboard/unwatched">["addresses"][number];
export type Domain = Reply<"GET /dashboard/domains">["domains"][number];
export type Team = Reply<"GET /dashboard/teams">["teams"][number];
export type Member = Reply<"GET /dashboard/members">["members"][number];
export type Scan = Reply<"GET /v1/scans">["scans"][number];
/** As `include=details` gives it. */
export type Channel = Extract<Reply<"GET /v1/alert-configs">["configs"][number], { options: unknown }>;
export type Delivery = Reply<"GET /dashboard/alert-configs/{id}/deliveries">["deliveries"][number];
export type ApiKey = Reply<"GET /dashboard/api-keys">["apiKeys"][number];
export type Recipient = Reply<"GET /dashboard/recipients/{token}">;
export type Session = Reply<"GET /dashboard/session">;
export type ImportPlan = Reply<"POST /v1/emails/import/preview">;
export type ImportRow = ImportPlan["emails"][number];
