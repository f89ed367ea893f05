import {
  type CfnDomainName,
  DomainName,
  EndpointAccessMode,
  EndpointType,
  SecurityPolicy,
  type SpecRestApi,
} from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";

/**
 * Serves the API under a name of its own: its base path `api` leads to the stage, so that paths are the same as under
 * the API's own name. Gives the host at which whoever deploys points the name.
 */
export function serveUnderDomain(api: SpecRestApi, name: string, certificateArn: string): string {
  const domain = new DomainName(api, "Domain", {
    domainName: name,
    certificate: Certificate.fromCertificateArn(api, "Certificate", certificateArn),
    endpointType: EndpointType.REGIONAL,
  });
  const resource = domain.node.defaultChild as CfnDomainName;
  resource.securityPolicy = SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09;
  resource.endpointAccessMode = EndpointAccessMode.STRICT;
  domain.addBasePathMapping(api, { basePath: "api" });
  return domain.domainNameAliasDomainName;
}
