// Key services on loopback that speak the real protocols: AWS KMS (each signature is verified, by code of its own) and the transit
// engine of Vault (each token is).
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

/** A server that can be silenced: it takes requests then, and answers none. */
abstract class LoopbackService {
  readonly asked: string[] = [];
  mode: 'answers' | 'silent' | 'fails' = 'answers';
  #server: Server | undefined;

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (piece: Buffer) => (text += piece.toString()));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const asked = { method, path: url, headers, text };
        this.asked.push(this.nameOf(asked));
        if (this.mode === 'silent') return;
        const { status, body } = this.mode === 'fails' ? { status: 503, body: {} } : this.answer(asked);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
      });
    });
    this.#server = server;
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return this;
  }

  get url(): string {
    const address = this.#server?.address() as AddressInfo | undefined;
    if (address === undefined) throw new Error('it was not started');
    return `http://127.0.0.1:${address.port}`;
  }

  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  protected abstract answer(asked: Asked): Answer;
  protected abstract nameOf(asked: Asked): string;
}

function sealed(key: Buffer, plain: Buffer, bound: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 }).setAAD(Buffer.from(bound));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

function opened(key: Buffer, blob: Buffer, bound: string): Buffer | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, blob.subarray(0, 12), { authTagLength: 16 })
      .setAAD(Buffer.from(bound))
      .setAuthTag(blob.subarray(12, 28));
    return Buffer.concat([decipher.update(blob.subarray(28)), decipher.final()]);
  } catch {
    return undefined;
  }
}

export const AWS_ID = 'AKIDEXAMPLEEXAMPLE00';
export const AWS_SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
export const ARN_A = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
export const ARN_B = 'arn:aws:kms:eu-central-1:111122223333:key/9999abcd-12ab-34cd-56ef-1234567890ab';

/** Its own credentials, and those that its STS gives for a web identity. */
export class FakeKms extends LoopbackService {
  readonly #keys = new Map<string, { materials: Buffer[]; state: string }>(
    [ARN_A, ARN_B].map((arn) => [arn, { materials: [randomBytes(32)], state: 'Enabled' }]),
  );
  readonly #secrets = new Map([[AWS_ID, { secret: AWS_SECRET, session: undefined as string | undefined }]]);
  readonly contexts: unknown[] = [];

  setState(arn: string, state: string): void {
    const key = this.#keys.get(arn);
    if (key !== undefined) key.state = state;
  }

  materials(arn: string): number {
    return this.#keys.get(arn)?.materials.length ?? 0;
  }

  protected nameOf({ headers, text }: Asked): string {
    const target = headers['x-amz-target'];
    return typeof target === 'string' ? target : (new URLSearchParams(text).get('Action') ?? '');
  }

  protected answer(asked: Asked): Answer {
    const operation = this.nameOf(asked).replace('TrentService.', '');
    if (operation === 'AssumeRoleWithWebIdentity') return this.#assumed(asked.text);
    const refused = this.#signatureFault(asked);
    if (refused !== undefined) return { status: 400, body: { __type: refused, message: 'refused' } };
    const said = JSON.parse(asked.text) as Record<string, string> & { EncryptionContext?: object };
    const key = this.#keys.get(said['KeyId'] ?? '');
    if (key === undefined) return fault('NotFoundException');
    const context = JSON.stringify(
      Object.entries(said.EncryptionContext ?? {}).toSorted(([one], [other]) => one.localeCompare(other)),
    );
    if (operation === 'DescribeKey') return { status: 200, body: { KeyMetadata: { KeyState: key.state } } };
    if (key.state !== 'Enabled') return fault('DisabledException');
    if (operation === 'RotateKeyOnDemand') {
      key.materials.unshift(randomBytes(32));
      return { status: 200, body: { KeyId: said['KeyId'] } };
    }
    this.contexts.push(said.EncryptionContext);
    const bytes = Buffer.from(said['Plaintext'] ?? said['CiphertextBlob'] ?? '', 'base64');
    if (operation === 'Encrypt') {
      const [current] = key.materials;
      if (current === undefined) return fault('KMSInternalException');
      return { status: 200, body: { CiphertextBlob: sealed(current, bytes, context).toString('base64') } };
    }
    const plain = key.materials
      .map((each) => opened(each, bytes, context))
      .find((each) => each !== undefined);
    if (operation !== 'Decrypt' || plain === undefined) return fault('InvalidCiphertextException');
    return { status: 200, body: { Plaintext: plain.toString('base64') } };
  }

  #assumed(text: string): Answer {
    const said = new URLSearchParams(text);
    if (said.get('WebIdentityToken') !== 'a-web-identity')
      return { status: 400, body: '<Error><Code>InvalidIdentityToken</Code></Error>' };
    const [id, secret, session] = [`ASIA${randomUUID()}`, randomUUID(), randomUUID()];
    this.#secrets.set(id, { secret, session });
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const body = `<AssumeRoleWithWebIdentityResponse><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${session}</SessionToken><Expiration>${until}</Expiration></Credentials></AssumeRoleWithWebIdentityResponse>`;
    return { status: 200, body };
  }

  /** As AWS does it: from the headers as they came. */
  #signatureFault({ method, path, headers, text }: Asked): string | undefined {
    const given =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/kms\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
    const [, id = '', day = '', region = '', names = '', signature] =
      given.exec(headers.authorization ?? '') ?? [];
    if (signature === undefined) return 'MissingAuthenticationTokenException';
    const owner = this.#secrets.get(id);
    const date = String(headers['x-amz-date']);
    if (owner === undefined) return 'UnrecognizedClientException';
    if (owner.session !== headers['x-amz-security-token']) return 'UnrecognizedClientException';
    const at = Date.parse(date.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'));
    const mustBeSigned = ['host', 'x-amz-date', 'x-amz-target', 'content-type'];
    const isWhole = mustBeSigned.every((name) => names.split(';').includes(name));
    if (!isWhole || !date.startsWith(day) || !(Math.abs(Date.now() - at) < 300_000))
      return 'InvalidSignatureException';
    const lines = names.split(';').map((name) => `${name}:${String(headers[name])}\n`);
    const hash = (what: string) => createHash('sha256').update(what).digest('hex');
    const canonical = `${method}\n${path}\n\n${lines.join('')}\n${names}\n${hash(text)}`;
    const sign = (key: string | Buffer, what: string) => createHmac('sha256', key).update(what).digest();
    const key = sign(sign(sign(sign(`AWS4${owner.secret}`, day), region), 'kms'), 'aws4_request');
    const wanted = sign(
      key,
      `AWS4-HMAC-SHA256\n${date}\n${day}/${region}/kms/aws4_request\n${hash(canonical)}`,
    );
    return wanted.toString('hex') === signature ? undefined : 'InvalidSignatureException';
  }
}

function fault(type: string): Answer {
  return { status: 400, body: { __type: `com.amazonaws.kms#${type}`, message: type } };
}

export const VAULT_TOKEN = 'hvs.a-root-token-of-this-test';

/** One transit engine at `transit` with the key `ute`; logins by AppRole and Kubernetes. */
export class FakeVault extends LoopbackService {
  readonly tokens = new Set([VAULT_TOKEN]);
  readonly #versions = [randomBytes(32)];
  readonly #isDerived: boolean;
  leaseSeconds = 3_600;
  leastVersion = 1;

  constructor(isDerived = false) {
    super();
    this.#isDerived = isDerived;
  }

  protected nameOf({ method, path }: Asked): string {
    return `${method} ${path}`;
  }

  protected answer({ method, path, headers, text }: Asked): Answer {
    const said = (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
    if (path === '/v1/auth/approle/login' || path === '/v1/auth/kubernetes/login')
      return this.#login(path, said);
    if (!this.tokens.has(String(headers['x-vault-token'])))
      return { status: 403, body: { errors: ['permission denied'] } };
    const latest = this.#versions.length;
    if (path === '/v1/transit/keys/ute' && method === 'GET') {
      const data = {
        type: 'aes256-gcm96',
        latest_version: latest,
        min_decryption_version: this.leastVersion,
      };
      return { status: 200, body: { data: { ...data, derived: this.#isDerived } } };
    }
    if (method !== 'POST') return { status: 405, body: { errors: ['unsupported operation'] } };
    if (path === '/v1/transit/keys/ute/rotate') {
      this.#versions.push(randomBytes(32));
      return { status: 204 };
    }
    if (this.#isDerived !== (said['context'] !== undefined))
      return refused('missing "context" for key derivation');
    const bound = `${said['associated_data'] ?? ''}|${said['context'] ?? ''}`;
    if (path === '/v1/transit/encrypt/ute') {
      const key = this.#versions[latest - 1] ?? Buffer.alloc(0);
      const blob = sealed(key, Buffer.from(said['plaintext'] ?? '', 'base64'), bound).toString('base64');
      return { status: 200, body: { data: { ciphertext: `vault:v${latest}:${blob}`, key_version: latest } } };
    }
    if (path !== '/v1/transit/decrypt/ute') return { status: 404, body: { errors: [] } };
    const [, version = '', blob = ''] = /^vault:v(\d+):(.*)$/.exec(said['ciphertext'] ?? '') ?? [];
    if (Number(version) < this.leastVersion)
      return refused('ciphertext or signature version is disallowed by policy (too old)');
    const plain = opened(
      this.#versions[Number(version) - 1] ?? Buffer.alloc(32),
      Buffer.from(blob, 'base64'),
      bound,
    );
    if (plain === undefined) return refused('cipher: message authentication failed');
    return { status: 200, body: { data: { plaintext: plain.toString('base64') } } };
  }

  #login(path: string, said: Readonly<Record<string, string>>): Answer {
    const isRight = path.includes('approle')
      ? said['role_id'] === 'ute-role' && said['secret_id'] === 'ute-secret-id'
      : said['role'] === 'ute' && said['jwt'] === 'a-service-account';
    if (!isRight) return refused('invalid role or secret ID');
    const token = `hvs.${randomUUID()}`;
    this.tokens.add(token);
    return { status: 200, body: { auth: { client_token: token, lease_duration: this.leaseSeconds } } };
  }
}

function refused(message: string): Answer {
  return { status: 400, body: { errors: [message] } };
}
