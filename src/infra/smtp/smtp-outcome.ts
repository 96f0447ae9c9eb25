// What an error of nodemailer means: the server said no, nothing of the message was handed over, or nobody knows.
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { SmtpRefusal, type RefusedRecipient, type SmtpStage } from '../../ports/egress/smtp-servers.ts';
import { connectFailed } from '../http/http-failures.ts';

/** How far the message had come. */
export interface SendProgress {
  /** A connection was there, and the account was let in. */
  began: boolean;
  /** All of the message was written: the server may have taken it. */
  handedOver: boolean;
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number | false;
  readonly recipient?: string;
  readonly rejectedErrors?: readonly SmtpError[];
}

const TOO_LARGE = 552;
const PROTOCOL: ReadonlySet<string> = new Set(['EPROTOCOL', 'EENVELOPE', 'EMESSAGE', 'EAUTH']);
const CONNECTION: ReadonlySet<string> = new Set(['ECONNECTION', 'ETIMEDOUT', 'ESOCKET', 'EDNS', 'ETLS']);

export function failureOf(error: unknown, { began, handedOver }: SendProgress): unknown {
  if (error instanceof ToolFailure || !(error instanceof Error)) return error;
  const said: SmtpError = error;
  const { code, command, response = '' } = said;
  if (isTlsMissing(said)) return tlsMissing(said);
  const refused = refusalCode(said);
  // Out of turn, it answers nothing that was said.
  if (refused !== undefined && !(code === 'EPROTOCOL' && began))
    return new SmtpRefusal(stageOf(said), refused, response, refusedOf(said.rejectedErrors));
  if (code === 'EMESSAGE' && command === 'MAIL FROM')
    return new SmtpRefusal('message', TOO_LARGE, 'The message is larger than the server takes.');
  if (handedOver) return deliveryUnknown(said);
  if (code !== undefined && PROTOCOL.has(code)) return notSmtp(said);
  if (code === undefined || !CONNECTION.has(code)) return error;
  return began ? connectionLost(said) : connectFailed(said);
}

export function refusedOf(errors: readonly SmtpError[] = []): readonly RefusedRecipient[] {
  return errors.map(({ recipient = '', responseCode, response = '' }) => ({
    address: recipient,
    code: typeof responseCode === 'number' ? responseCode : 0,
    reply: response,
  }));
}

/** Undefined: the server did not say no. */
function refusalCode({ responseCode }: SmtpError): number | undefined {
  if (typeof responseCode !== 'number') return undefined;
  return responseCode >= 400 && responseCode <= 599 ? responseCode : undefined;
}

function isTlsMissing({ command, code, message, responseCode }: SmtpError): boolean {
  if (command === 'STARTTLS' && typeof responseCode === 'number') return true;
  return command === 'EHLO' && code === 'ECONNECTION' && /STARTTLS/.test(message);
}

function stageOf({ command = '', code }: SmtpError): SmtpStage {
  if (code === 'EAUTH' || command.startsWith('AUTH')) return 'login';
  if (command === 'MAIL FROM') return 'sender';
  if (command === 'RCPT TO') return 'recipients';
  return command === 'DATA' ? 'message' : 'greeting';
}

function notSmtp({ code, command }: SmtpError): ToolFailure {
  return toolFailure('SMTP_PROTOCOL', 'The mail server answered with something that is not SMTP.', {
    partialSideEffects: false,
    // Without the answer itself, which may hold anything.
    cause: new Error(`${code} ${command}`),
  });
}

function tlsMissing(cause: Error): ToolFailure {
  return toolFailure(
    'SMTP_TLS_MISSING',
    'The mail server offers no TLS, without which nothing is said to it.',
    { partialSideEffects: false, cause },
  );
}

function connectionLost(cause: Error): ToolFailure {
  return toolFailure(
    'CONNECTION_LOST',
    'The connection to the mail server was lost before the message was handed over.',
    { partialSideEffects: false, cause },
  );
}

/** RFC 5321 has one code on all lines of a reply. nodemailer goes by the first: of `250-a`, `550 b` it says that all is well. */
export function hasSeveralCodes(reply: string): boolean {
  return new Set(reply.split('\n').map((line) => line.slice(0, 3))).size > 1;
}

export function answeredTwoWays(): ToolFailure {
  return toolFailure(
    'DELIVERY_UNKNOWN',
    'The mail server answered the message with several codes at once: whether it was taken is not known.',
    { retryable: false, partialSideEffects: true },
  );
}

/** All of it was written, and no answer came: it may be delivered, so that nobody sends it again by itself. */
function deliveryUnknown(cause: Error): ToolFailure {
  return toolFailure(
    'DELIVERY_UNKNOWN',
    'The connection to the mail server was lost after the message was handed over: whether it was taken is not known.',
    { retryable: false, partialSideEffects: true, cause },
  );
}
