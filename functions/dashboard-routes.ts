import type { Route } from "../shared/contract/endpoint.ts";
import { addDomain } from "./add-domain/endpoint.ts";
import { addPasskey } from "./add-passkey/endpoint.ts";
import { assignBreach } from "./assign-breach/endpoint.ts";
import { assignEmail } from "./assign-email/endpoint.ts";
import { beginPasskey } from "./begin-passkey/endpoint.ts";
import { beginPasskeySignIn } from "./begin-passkey-sign-in/endpoint.ts";
import { changeDirectory } from "./change-directory/endpoint.ts";
import { changeEmails } from "./change-emails/endpoint.ts";
import { changeMember } from "./change-member/endpoint.ts";
import { changeOrganization } from "./change-organization/endpoint.ts";
import { changeRule } from "./change-rule/endpoint.ts";
import { changeTeam } from "./change-team/endpoint.ts";
import { checkDomain } from "./check-domain/endpoint.ts";
import { commentOnBreach } from "./comment-on-breach/endpoint.ts";
import { confirmRecipient } from "./confirm-recipient/endpoint.ts";
import { connectDirectory } from "./connect-directory/endpoint.ts";
import { createApiKey } from "./create-api-key/endpoint.ts";
import { createSignInLink } from "./create-sign-in-link/endpoint.ts";
import { createTeam } from "./create-team/endpoint.ts";
import { deleteTeam } from "./delete-team/endpoint.ts";
import { disconnectDirectory } from "./disconnect-directory/endpoint.ts";
import { endSession } from "./end-session/endpoint.ts";
import { findEmails } from "./find-emails/endpoint.ts";
import { getDelivery } from "./get-delivery/endpoint.ts";
import { getDirectory } from "./get-directory/endpoint.ts";
import { getEmail } from "./get-email/endpoint.ts";
import { getFinding } from "./get-finding/endpoint.ts";
import { getFoundBreach } from "./get-found-breach/endpoint.ts";
import { getOrganization } from "./get-organization/endpoint.ts";
import { getOverview } from "./get-overview/endpoint.ts";
import { getRecipient } from "./get-recipient/endpoint.ts";
import { getSession } from "./get-session/endpoint.ts";
import { getSignIn } from "./get-sign-in/endpoint.ts";
import { ignoreUnwatched } from "./ignore-unwatched/endpoint.ts";
import { inviteMember } from "./invite-member/endpoint.ts";
import { listApiKeys } from "./list-api-keys/endpoint.ts";
import { listComments } from "./list-comments/endpoint.ts";
import { listDeliveries } from "./list-deliveries/endpoint.ts";
import { listDirectories } from "./list-directories/endpoint.ts";
import { listDomains } from "./list-domains/endpoint.ts";
import { listFindings } from "./list-findings/endpoint.ts";
import { listFoundBreaches } from "./list-found-breaches/endpoint.ts";
import { listMembers } from "./list-members/endpoint.ts";
import { listRules } from "./list-rules/endpoint.ts";
import { listSessions } from "./list-sessions/endpoint.ts";
import { listTeams } from "./list-teams/endpoint.ts";
import { listUnwatched } from "./list-unwatched/endpoint.ts";
import { lookUpSignInLink } from "./look-up-sign-in-link/endpoint.ts";
import { openProvider } from "./open-provider/endpoint.ts";
import { openRecipient } from "./open-recipient/endpoint.ts";
import { previewRule } from "./preview-rule/endpoint.ts";
import { recordExport } from "./record-export/endpoint.ts";
import { redeemPasskey } from "./redeem-passkey/endpoint.ts";
import { redeemProviderCode } from "./redeem-provider-code/endpoint.ts";
import { redeemSignInLink } from "./redeem-sign-in-link/endpoint.ts";
import { redeliverAlert } from "./redeliver-alert/endpoint.ts";
import { removeDomain } from "./remove-domain/endpoint.ts";
import { removeMember } from "./remove-member/endpoint.ts";
import { removePasskey } from "./remove-passkey/endpoint.ts";
import { resendInvitation } from "./resend-invitation/endpoint.ts";
import { revokeApiKey } from "./revoke-api-key/endpoint.ts";
import { revokeOtherSessions } from "./revoke-other-sessions/endpoint.ts";
import { revokeSession } from "./revoke-session/endpoint.ts";
import { tellOwners } from "./tell-owners/endpoint.ts";
import { testAlertConfig } from "./test-alert-config/endpoint.ts";
import { unsubscribeRecipient } from "./unsubscribe-recipient/endpoint.ts";
import { watchUnwatched } from "./watch-unwatched/endpoint.ts";

/**
 * Every endpoint of the dashboard: its method, its path below /api/dashboard, the name of its function and
 * folder, and its contract.
 */
export const dashboardRoutes = [
  { method: "GET", path: "/sign-in", name: "get-sign-in", endpoint: getSignIn },
  { method: "POST", path: "/sign-in/links", name: "create-sign-in-link", endpoint: createSignInLink },
  {
    method: "POST",
    path: "/sign-in/links/lookup",
    name: "look-up-sign-in-link",
    endpoint: lookUpSignInLink,
  },
  { method: "POST", path: "/sign-in/sessions", name: "redeem-sign-in-link", endpoint: redeemSignInLink },
  { method: "POST", path: "/sign-in/provider", name: "open-provider", endpoint: openProvider },
  {
    method: "POST",
    path: "/sign-in/provider/sessions",
    name: "redeem-provider-code",
    endpoint: redeemProviderCode,
  },
  {
    method: "POST",
    path: "/sign-in/passkeys/options",
    name: "begin-passkey-sign-in",
    endpoint: beginPasskeySignIn,
  },
  { method: "POST", path: "/sign-in/passkeys/sessions", name: "redeem-passkey", endpoint: redeemPasskey },
  { method: "GET", path: "/session", name: "get-session", endpoint: getSession },
  { method: "DELETE", path: "/session", name: "end-session", endpoint: endSession },
  { method: "GET", path: "/sessions", name: "list-sessions", endpoint: listSessions },
  { method: "DELETE", path: "/sessions", name: "revoke-other-sessions", endpoint: revokeOtherSessions },
  { method: "DELETE", path: "/sessions/{id}", name: "revoke-session", endpoint: revokeSession },
  { method: "POST", path: "/passkeys", name: "add-passkey", endpoint: addPasskey },
  { method: "POST", path: "/passkeys/options", name: "begin-passkey", endpoint: beginPasskey },
  { method: "DELETE", path: "/passkeys/{id}", name: "remove-passkey", endpoint: removePasskey },
  { method: "GET", path: "/organization", name: "get-organization", endpoint: getOrganization },
  { method: "PATCH", path: "/organization", name: "change-organization", endpoint: changeOrganization },
  { method: "GET", path: "/api-keys", name: "list-api-keys", endpoint: listApiKeys },
  { method: "POST", path: "/api-keys", name: "create-api-key", endpoint: createApiKey },
  { method: "DELETE", path: "/api-keys/{id}", name: "revoke-api-key", endpoint: revokeApiKey },
  { method: "GET", path: "/directories", name: "list-directories", endpoint: listDirectories },
  { method: "POST", path: "/directories", name: "connect-directory", endpoint: connectDirectory },
  { method: "GET", path: "/directories/{id}", name: "get-directory", endpoint: getDirectory },
  { method: "PATCH", path: "/directories/{id}", name: "change-directory", endpoint: changeDirectory },
  {
    method: "DELETE",
    path: "/directories/{id}",
    name: "disconnect-directory",
    endpoint: disconnectDirectory,
  },
  { method: "GET", path: "/domains", name: "list-domains", endpoint: listDomains },
  { method: "POST", path: "/domains", name: "add-domain", endpoint: addDomain },
  { method: "POST", path: "/domains/{id}/check", name: "check-domain", endpoint: checkDomain },
  { method: "DELETE", path: "/domains/{id}", name: "remove-domain", endpoint: removeDomain },
  { method: "GET", path: "/teams", name: "list-teams", endpoint: listTeams },
  { method: "POST", path: "/teams", name: "create-team", endpoint: createTeam },
  { method: "PATCH", path: "/teams/{id}", name: "change-team", endpoint: changeTeam },
  { method: "DELETE", path: "/teams/{id}", name: "delete-team", endpoint: deleteTeam },
  { method: "GET", path: "/members", name: "list-members", endpoint: listMembers },
  { method: "POST", path: "/members", name: "invite-member", endpoint: inviteMember },
  {
    method: "POST",
    path: "/members/{id}/invitation",
    name: "resend-invitation",
    endpoint: resendInvitation,
  },
  { method: "PATCH", path: "/members/{id}", name: "change-member", endpoint: changeMember },
  { method: "DELETE", path: "/members/{id}", name: "remove-member", endpoint: removeMember },
  { method: "POST", path: "/exports", name: "record-export", endpoint: recordExport },
  { method: "GET", path: "/overview", name: "get-overview", endpoint: getOverview },
  { method: "GET", path: "/findings", name: "list-findings", endpoint: listFindings },
  { method: "POST", path: "/findings/tell", name: "tell-owners", endpoint: tellOwners },
  { method: "GET", path: "/findings/{id}", name: "get-finding", endpoint: getFinding },
  { method: "GET", path: "/breaches", name: "list-found-breaches", endpoint: listFoundBreaches },
  { method: "GET", path: "/breaches/{id}", name: "get-found-breach", endpoint: getFoundBreach },
  { method: "PUT", path: "/breaches/{id}/assignee", name: "assign-breach", endpoint: assignBreach },
  { method: "GET", path: "/breaches/{id}/comments", name: "list-comments", endpoint: listComments },
  { method: "POST", path: "/breaches/{id}/comments", name: "comment-on-breach", endpoint: commentOnBreach },
  { method: "GET", path: "/rules", name: "list-rules", endpoint: listRules },
  { method: "PUT", path: "/rules/{id}", name: "change-rule", endpoint: changeRule },
  { method: "POST", path: "/rules/{id}/preview", name: "preview-rule", endpoint: previewRule },
  { method: "GET", path: "/emails", name: "find-emails", endpoint: findEmails },
  { method: "POST", path: "/emails/changes", name: "change-emails", endpoint: changeEmails },
  { method: "GET", path: "/emails/{id}", name: "get-email", endpoint: getEmail },
  { method: "PATCH", path: "/emails/{id}", name: "assign-email", endpoint: assignEmail },
  { method: "GET", path: "/unwatched", name: "list-unwatched", endpoint: listUnwatched },
  { method: "POST", path: "/unwatched/watch", name: "watch-unwatched", endpoint: watchUnwatched },
  { method: "POST", path: "/unwatched/ignore", name: "ignore-unwatched", endpoint: ignoreUnwatched },
  {
    method: "GET",
    path: "/alert-configs/{id}/deliveries",
    name: "list-deliveries",
    endpoint: listDeliveries,
  },
  {
    method: "GET",
    path: "/alert-configs/{id}/deliveries/{deliveryId}",
    name: "get-delivery",
    endpoint: getDelivery,
  },
  { method: "POST", path: "/alert-configs/{id}/test", name: "test-alert-config", endpoint: testAlertConfig },
  {
    method: "POST",
    path: "/alert-configs/{id}/deliveries/{deliveryId}/redeliver",
    name: "redeliver-alert",
    endpoint: redeliverAlert,
  },
  { method: "GET", path: "/recipients/{token}", name: "get-recipient", endpoint: getRecipient },
  {
    method: "POST",
    path: "/recipients/{token}/confirm",
    name: "confirm-recipient",
    endpoint: confirmRecipient,
  },
  {
    method: "GET",
    path: "/recipients/{token}/unsubscribe",
    name: "open-recipient",
    endpoint: openRecipient,
  },
  {
    method: "POST",
    path: "/recipients/{token}/unsubscribe",
    name: "unsubscribe-recipient",
    endpoint: unsubscribeRecipient,
  },
] as const satisfies readonly Route[];
