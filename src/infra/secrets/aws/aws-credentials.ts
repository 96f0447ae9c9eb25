// AwsCredentialSource: where a workload on AWS has its credentials: environment, web identity (IRSA), container (ECS, EKS), instance (IMDSv2).
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../../ports/clock.ts';
import type { HttpClient } from '../../../ports/egress/http-client.ts';
import { askServer, membersOf } from '../remote/ask-server.ts';
import { KeyServiceAway } from '../remote/key-service.ts';
import type { AwsCredentials } from './sign-request.ts';

export interface AwsCredentialNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For STS. */
  readonly region: string;
}

interface Lasting extends AwsCredentials {
  /** Milliseconds of the epoch; undefined: they have no end. */
  readonly until?: number | undefined;
}

const RENEW_BEFORE_MS = 5 * 60_000;
const INSTANCE = 'http://169.254.169.254';
const ROLES = '/latest/meta-data/iam/security-credentials/';
/** Where AWS itself says that a container may ask in plain HTTP. */
const CONTAINER_HOSTS = ['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]', '127.0.0.1', 'localhost'];

export class AwsCredentialSource {
  readonly #needs: AwsCredentialNeeds;
  #kept: Lasting | undefined;

  constructor(needs: AwsCredentialNeeds) {
    this.#needs = needs;
  }

  /** Rejects with KeyServiceAway, or as the HTTP client does. */
  async get(signal: AbortSignal): Promise<AwsCredentials> {
    const { until = Number.POSITIVE_INFINITY } = this.#kept ?? { until: 0 };
    if (this.#kept !== undefined && until - this.#needs.clock.wall() > RENEW_BEFORE_MS) return this.#kept;
    return (this.#kept = await this.#find(signal));
  }

  /** They were refused: the next request asks for others. */
  forget(): void {
    this.#kept = undefined;
  }

  async #find(signal: AbortSignal): Promise<Lasting> {
    const { env } = this.#needs;
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: key, AWS_SESSION_TOKEN: session } = env;
    if (id && key)
      return { accessKeyId: id, secretAccessKey: key, ...(session ? { sessionToken: session } : {}) };
    if (env['AWS_WEB_IDENTITY_TOKEN_FILE'] && env['AWS_ROLE_ARN']) return this.#ofWebIdentity(signal);
    const relative = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
    const full = env['AWS_CONTAINER_CREDENTIALS_FULL_URI'];
    if (relative) return this.#ofContainer(`http://169.254.170.2${relative}`, signal);
    if (full) return this.#ofContainer(full, signal);
    if (env['AWS_EC2_METADATA_DISABLED'] === 'true')
      throw new KeyServiceAway('there are no AWS credentials in the environment of the gateway');
    return this.#ofInstance(signal);
  }

  async #ofWebIdentity(signal: AbortSignal): Promise<Lasting> {
    const { env, region, http } = this.#needs;
    const suffix = region.startsWith('cn-') ? '.cn' : '';
    const url = new URL(env['AWS_ENDPOINT_URL_STS'] || `https://sts.${region}.amazonaws.com${suffix}/`);
    const body = new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: env['AWS_ROLE_ARN'] ?? '',
      RoleSessionName: env['AWS_ROLE_SESSION_NAME'] || 'unified-tool-executor',
      WebIdentityToken: await readText(env['AWS_WEB_IDENTITY_TOKEN_FILE'] ?? ''),
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status, text } = await askServer(http, inside(url), {
      method: 'POST',
      url,
      headers,
      body: body.toString(),
      signal,
    });
    const part = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1];
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Object.fromEntries(
      ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'].map((name) => [name, part(name)]),
    );
    if (status !== 200)
      throw new KeyServiceAway(`STS refused AssumeRoleWithWebIdentity: HTTP ${status} ${part('Code') ?? ''}`);
    return credentialsOf({ AccessKeyId, SecretAccessKey, Token: SessionToken, Expiration }, 'STS');
  }

  async #ofContainer(place: string, signal: AbortSignal): Promise<Lasting> {
    const { env } = this.#needs;
    const url = URL.parse(place);
    if (url === null || !(url.protocol === 'https:' || CONTAINER_HOSTS.includes(url.hostname)))
      throw new KeyServiceAway('AWS_CONTAINER_CREDENTIALS_FULL_URI is no https URL, and none of AWS itself');
    const file = env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];
    const token = file ? await readText(file) : env['AWS_CONTAINER_AUTHORIZATION_TOKEN'];
    const headers = token ? { authorization: token } : undefined;
    return credentialsOf(membersOf(await this.#read(url, 'GET', headers, signal)), url.origin);
  }

  async #ofInstance(signal: AbortSignal): Promise<Lasting> {
    const at = (path: string) => new URL(path, INSTANCE);
    const lasts = { 'x-aws-ec2-metadata-token-ttl-seconds': '300' };
    const token = await this.#read(at('/latest/api/token'), 'PUT', lasts, signal);
    const headers = { 'x-aws-ec2-metadata-token': token };
    const [role = ''] = (await this.#read(at(ROLES), 'GET', headers, signal)).trim().split('\n');
    const answer = await this.#read(at(ROLES + encodeURIComponent(role)), 'GET', headers, signal);
    return credentialsOf(membersOf(answer), 'the instance metadata');
  }

  async #read(
    url: URL,
    method: 'GET' | 'PUT',
    headers: Readonly<Record<string, string>> = {},
    signal: AbortSignal,
  ): Promise<string> {
    const { status, text } = await askServer(this.#needs.http, inside(url), { method, url, headers, signal });
    if (status === 200) return text;
    throw new KeyServiceAway(`${url.origin} gave no AWS credentials: HTTP ${status}`);
  }
}

/** Metadata addresses are guarded: each needs a range of its own. Names other than these are reached as any public host. */
function inside({ hostname, port }: URL) {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const isLocal = bare === 'localhost' || bare === '127.0.0.1';
  const own = bare.includes(':') ? `${bare}/128` : `${bare}/32`;
  const isAddress = /^[\d.]+$|:/.test(bare);
  return {
    allow_private: isLocal ? ['127.0.0.0/8', '::1/128'] : isAddress ? [own] : [],
    ...(port !== '' && { allow_ports: [Number(port)] }),
  };
}

function credentialsOf(said: Readonly<Record<string, unknown>>, who: string): Lasting {
  const { AccessKeyId: id, SecretAccessKey: key, Token: token, Expiration: end } = said;
  if (typeof id !== 'string' || typeof key !== 'string')
    throw new KeyServiceAway(`${who} answered with no AWS credentials`);
  const until = typeof end === 'string' ? Date.parse(end) : Number.NaN;
  return {
    accessKeyId: id,
    secretAccessKey: key,
    ...(typeof token === 'string' && { sessionToken: token }),
    ...(Number.isFinite(until) && { until }),
  };
}

async function readText(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new KeyServiceAway(`${path} cannot be read`, { cause: error });
  }
}
