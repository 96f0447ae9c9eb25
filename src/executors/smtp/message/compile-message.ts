// A message out of a call: its places are found at load, and filled and checked together when it is made.
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../../contract/call/tool-call.ts';
import { soleName } from '../../../lib/text/template.ts';
import { htmlText } from '../../../lib/text/html-text.ts';
import type { MailMessage } from '../../../ports/egress/smtp-servers.ts';
import { fillAttachments } from './attachments.ts';
import { CallValues, misconfigured } from './call-values.ts';
import type { MailAddress } from './mail-address.ts';
import { messageIdOf } from './message-id.ts';
import { fillAddresses, fillHtml, fillLine, fillText, type NamedAddress } from './message-parts.ts';
import {
  DEFAULT_ATTACHMENT_BYTES,
  DEFAULT_MOST_RECIPIENTS,
  mailTemplate,
  type MessageOptions,
  type SmtpOptions,
} from '../options-schema.ts';
import { compileRules, type RecipientRule } from './recipient-rules.ts';

const MOST_SHOWN = 20;

/** `rules`: those of the connection, which hold besides. Throws ToolFailure where the call makes no message that may be sent. */
export function compileMessage(
  options: SmtpOptions,
  said: MessageOptions,
  rules: readonly string[] | undefined,
): (call: ToolCall) => MailMessage {
  const { max = DEFAULT_MOST_RECIPIENTS, allow = [] } = options.recipients ?? {};
  const allowed = { given: compileRules(allow), any: compileRules(rules ?? ['*']) };
  const fill = compileParts(said, options.max_attachment_bytes ?? DEFAULT_ATTACHMENT_BYTES);
  return (call) => {
    const values = new CallValues(call);
    const { from, fromName, to, cc, bcc, replyTo, subject, text, html, attachments } = fill(values);
    values.check();
    const recipients = [...to, ...cc, ...bcc];
    checkCount(recipients, max);
    // Where answers go is as good as a recipient, for whoever waits for them.
    checkAllowed([...recipients, ...replyTo], from, {
      given: allowed.given(values),
      any: allowed.any(values),
    });
    return {
      messageId: messageIdOf(call, from.domain),
      from: { address: from.address, name: fromName ?? '' },
      to: to.map(addressOf),
      cc: cc.map(addressOf),
      bcc: bcc.map(addressOf),
      replyTo: replyTo.map(addressOf),
      subject: subject ?? '',
      text: text ?? (html === undefined ? '' : htmlText(html)),
      ...(html !== undefined && { html }),
      attachments,
    };
  };
}

function compileParts(said: MessageOptions, maxBytes: number) {
  const from = fillAddresses(said.from);
  const fromName = fillLine(said.from_name);
  const [to, cc, bcc, replyTo] = [said.to, said.cc, said.bcc, said.reply_to].map(fillAddresses);
  const subject = fillLine(said.subject);
  const text = fillText(said.text);
  const html = fillHtml(said.html);
  const attachments = fillAttachments(said.attachments, maxBytes);
  return (values: CallValues) => ({
    from: theOne(from(values), said.from),
    fromName: fromName(values),
    to: to?.(values) ?? [],
    cc: cc?.(values) ?? [],
    bcc: bcc?.(values) ?? [],
    replyTo: replyTo?.(values) ?? [],
    subject: subject(values),
    text: text(values),
    html: html(values),
    attachments: attachments(values),
  });
}

function theOne([address, ...others]: readonly MailAddress[], said = 'from'): MailAddress {
  if (address !== undefined && others.length === 0) return address;
  throw misconfigured(soleName(mailTemplate(said)) ?? said, 'must be one address');
}

function addressOf({ address }: MailAddress): string {
  return address;
}

function checkCount(recipients: readonly MailAddress[], max: number): void {
  const { size } = new Set(recipients.map(addressOf));
  if (size === 0) throw unsafe('The message is for nobody: no recipient is given.');
  if (size > max) throw unsafe(`The message is for ${size} recipients; this tool writes to ${max} at most.`);
}

function checkAllowed(
  named: readonly NamedAddress[],
  from: MailAddress,
  allows: { readonly given: RecipientRule; readonly any: RecipientRule },
): void {
  const isAllowed = (each: NamedAddress) =>
    allows.any(each, from) && (!each.isGiven || allows.given(each, from));
  const denied = new Set(named.filter((each) => !isAllowed(each)).map(addressOf));
  if (denied.size === 0) return;
  const shown = [...denied].slice(0, MOST_SHOWN);
  throw toolFailure(
    'RECIPIENT_NOT_ALLOWED',
    `This tool may not write to ${shown.join(', ')}: the operator lists who may be written to.`,
    { details: { recipients: shown }, partialSideEffects: false },
  );
}

function unsafe(message: string): ToolFailure {
  return toolFailure('UNSAFE_ARGUMENT', message, { partialSideEffects: false });
}
