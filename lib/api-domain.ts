import {
  type CfnDomainName,
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type RestApi,
  SecurityPolicy,
} from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { InvalidOption } from "./options.ts";

/** A name of the deployment's own, and the certificate for it, of the stack's region. */
export type ApiDomain = { name: string; certificateArn: string };

/** Of the values of both options. Throws if only one is given, or if they are no host name and no certificate's ARN. */
export function readDomain(
  name: string | undefined,
  certificateArn: string | undefined,
): ApiDomain | undefined {
  if (name === undefined && certificateArn === undefined) return undefined;
  if (name === undefined || !/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(name)) {
    throw new InvalidOption(`domainName must be a host name in lower case, not "${name}"`);
  }
  if (
    certificateArn === undefined ||
    !/^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/\S+$/.test(certificateArn)
  ) {
    throw new InvalidOption(
      `certificateArn must be the ARN of a certificate of ACM, not "${certificateArn}"`,
    );
  }
  return { name, certificateArn };
}

/**
 * Serves the API under a name of its own: its base path `api` leads to the stage, so that paths are the same as under
 * the API's own name. Gives the host at which whoever deploys points the name.
 */
export function serveUnderDomain(api: RestApi, { name, certificateArn }: ApiDomain): string {
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
