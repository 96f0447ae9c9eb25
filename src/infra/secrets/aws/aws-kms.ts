// AwsKms: KeyService over AWS Key Management Service. Each data key is encrypted there, bound to its place by the encryption context.
// https://docs.aws.amazon.com/kms/latest/APIReference/
import type { Clock } from '../../../ports/clock.ts';
import type { HttpClient } from '../../../ports/egress/http-client.ts';
import type { WrappedDataKey } from '../../../ports/secrets/key-provider.ts';
import type { SecretPlace } from '../../../ports/secrets/secret-sealer.ts';
import type { AwsKmsSettings } from '../../../settings/secrets-settings.ts';
import { askServer, membersOf } from '../remote/ask-server.ts';
import {
  KeyRefused,
  KeyServiceAway,
  NotUnwrapped,
  type KeyIds,
  type KeyService,
} from '../remote/key-service.ts';
import { AwsCredentialSource } from './aws-credentials.ts';
import { signedHeaders } from './sign-request.ts';

export interface AwsKmsNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Key = AwsKmsSettings['keys'][number];

const PREFIX = 'kms-';
/** By what AWS calls them: nothing is answered with these credentials. */
const CREDENTIALS_REFUSED =
  /UnrecognizedClient|InvalidSignature|IncompleteSignature|ExpiredToken|InvalidClientTokenId|MissingAuthenticationToken|OptInRequired/;
const CHANGED = /InvalidCiphertext|IncorrectKey/;

export class AwsKms implements KeyService {
  readonly kind = 'aws_kms';
  readonly #settings: AwsKmsSettings;
  readonly #needs: AwsKmsNeeds;
  readonly #current: Key;
  readonly #credentials: AwsCredentialSource;

  constructor(settings: AwsKmsSettings, needs: AwsKmsNeeds) {
    const [current] = settings.keys;
    if (current === undefined) throw new Error('secrets.aws_kms.keys names no key');
    this.#settings = settings;
    this.#needs = needs;
    this.#current = current;
    this.#credentials = new AwsCredentialSource({ ...needs, region: regionOf(current.arn) });
  }

  async keyIds(signal: AbortSignal): Promise<KeyIds> {
    const { arn } = this.#current;
    const { KeyMetadata: found } = await this.#ask('DescribeKey', arn, {}, signal);
    const { KeyState: state } = membersOfValue(found);
    if (state !== 'Enabled') throw new KeyServiceAway(`the KMS key ${arn} is ${String(state)}, not Enabled`);
    const [current = '', ...older] = this.#settings.keys.map(({ id }) => PREFIX + id);
    return [current, ...older];
  }

  reads(keyId: string): boolean {
    return this.#settings.keys.some(({ id }) => PREFIX + id === keyId);
  }

  async wrap(dataKey: Buffer, place: SecretPlace, signal: AbortSignal): Promise<WrappedDataKey> {
    const { id, arn } = this.#current;
    const asked = { Plaintext: dataKey.toString('base64'), EncryptionContext: contextOf(place) };
    const { CiphertextBlob: blob } = await this.#ask('Encrypt', arn, asked, signal);
    return { keyId: PREFIX + id, wrapped: bytesOf(blob) };
  }

  async unwrap({ keyId, wrapped }: WrappedDataKey, place: SecretPlace, signal: AbortSignal): Promise<Buffer> {
    const key = this.#settings.keys.find(({ id }) => PREFIX + id === keyId);
    if (key === undefined) throw new KeyRefused(`secrets.aws_kms.keys has no ${keyId}`);
    const asked = { CiphertextBlob: wrapped.toString('base64'), EncryptionContext: contextOf(place) };
    const { Plaintext: plain } = await this.#ask('Decrypt', key.arn, asked, signal);
    return bytesOf(plain);
  }

  /** KMS makes new material for the same key and keeps all older: what was wrapped before stays readable, under the same name. */
  async rotate(signal: AbortSignal): Promise<void> {
    await this.#ask('RotateKeyOnDemand', this.#current.arn, {}, signal);
  }

  async #ask(
    operation: string,
    arn: string,
    members: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { http, clock } = this.#needs;
    const region = regionOf(arn);
    const url = new URL(this.#settings.endpoint ?? endpointOf(region));
    const body = JSON.stringify({ KeyId: arn, ...members });
    const plain = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `TrentService.${operation}`,
    };
    const request = { method: 'POST' as const, url, headers: plain, body };
    const credentials = await this.#credentials.get(signal);
    const { host: _own, ...headers } = signedHeaders(
      { ...request, region, service: 'kms', at: clock.wall() },
      credentials,
    );
    const { status, text } = await askServer(http, this.#settings, { ...request, headers, signal });
    if (status === 200) return membersOf(text);
    throw this.#refusal(operation, status, text);
  }

  #refusal(operation: string, status: number, text: string): Error {
    const { __type: type, message } = membersOf(text);
    const name = typeof type === 'string' ? (type.split('#').at(-1) ?? '') : '';
    const said = typeof message === 'string' ? `: ${message.slice(0, 300)}` : '';
    const told = `KMS ${operation} answered HTTP ${status} ${name}${said}`;
    if (operation === 'Decrypt' && CHANGED.test(name)) return new NotUnwrapped(told);
    if (CREDENTIALS_REFUSED.test(name)) {
      this.#credentials.forget();
      return new KeyServiceAway(told);
    }
    return status >= 500 || name === '' ? new KeyServiceAway(told) : new KeyRefused(told);
  }
}

/** CloudTrail shows it, and a key policy may demand it (kms:EncryptionContext:ute:tenant). */
function contextOf({ tenantId, agent, tool, field }: SecretPlace): Readonly<Record<string, string>> {
  const context = { 'ute:tenant': tenantId, 'ute:agent': agent, 'ute:tool': tool, 'ute:field': field };
  return Object.fromEntries(Object.entries(context).map(([name, value]) => [name, value.toWellFormed()]));
}

/** arn:aws:kms:<region>:<account>:key/<id> */
function regionOf(arn: string): string {
  return arn.split(':')[3] ?? '';
}

function endpointOf(region: string): string {
  return `https://kms.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
}

function bytesOf(encoded: unknown): Buffer {
  if (typeof encoded === 'string' && encoded !== '') return Buffer.from(encoded, 'base64');
  throw new KeyServiceAway('KMS answered without what was asked for');
}

function membersOfValue(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
