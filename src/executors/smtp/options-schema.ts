// The smtp executor's options: one message, or one for each action, with places for arguments and for what agents have configured.
import { z } from 'zod';
import { whole } from '../../lib/settings/whole.ts';
import { parseTemplate, soleName, TemplateError, type Template } from '../../lib/text/template.ts';
import { parseAddress } from './message/mail-address.ts';
import { parseRule, RULE_EXPECTED } from './message/recipient-rules.ts';

export const DEFAULT_MOST_RECIPIENTS = 10;
export const DEFAULT_ATTACHMENT_BYTES = 5 << 20;
const MOST_ATTACHMENT_BYTES = 25 << 20;

/** What ends a line for one reader or another, and what is no text. Tabs too: they have no place in a header. */
export const NOT_IN_LINE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Text with placeholders, held to `problemOf` where it is written. */
function place(problemOf: (template: Template, text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const message = problemIn(text, problemOf);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

function problemIn(text: string, problemOf: (template: Template, text: string) => string | undefined) {
  try {
    return problemOf(mailTemplate(text), text);
  } catch (error) {
    if (error instanceof TemplateError) return `${error.message}.`;
    throw error;
  }
}

export function mailTemplate(text: string): Template {
  return parseTemplate(text, { ofAgent: true });
}

const secretProblem = ({ names }: Template) =>
  names.some((name) => name.startsWith('sensitive_config.'))
    ? 'A secret has no place in a message.'
    : undefined;

/** Literal, or one value of the agent's; no argument decides it. */
function ofOperator(
  expected: string,
  isLiteral: (text: string) => boolean,
  parts: readonly string[] = ['config'],
) {
  return place((template, text) => {
    if (template.names.length === 0)
      return isLiteral(text.replaceAll('{{', '{').replaceAll('}}', '}'))
        ? undefined
        : `Expected ${expected}.`;
    const [part] = soleName(template)?.split('.', 2) ?? [];
    const shown = parts.map((each) => `{${each}.name}`).join(' or ');
    return part !== undefined && soleName(template)?.includes('.') === true && parts.includes(part)
      ? undefined
      : `Expected ${expected}, or ${shown} and nothing else: no argument decides this.`;
  });
}

const address = place((template, text) => {
  const secret = secretProblem(template);
  if (secret !== undefined) return secret;
  if (template.names.length === 0)
    return parseAddress(text) === undefined ? 'Expected an address.' : undefined;
  return soleName(template) === undefined
    ? 'Expected an address, or one placeholder and nothing else.'
    : undefined;
});

const addresses = z.union([address, z.array(address).min(1).max(100)]);
const text = place(secretProblem);
const line = place(
  (template, said) => secretProblem(template) ?? (NOT_IN_LINE.test(said) ? 'Expected one line.' : undefined),
);

const user = ofOperator('a user', (name) => name !== '', ['config', 'sensitive_config']);

const server = z
  .strictObject({
    host: ofOperator('a host', (host) => host !== '').optional(),
    port: z.union([whole(1, 65_535), ofOperator('a port', () => false)]).optional(),
    user: z
      .union([user, z.array(user).min(1).max(10)])
      .optional()
      .describe('Of a list, the first that is configured.'),
    password: ofOperator('{sensitive_config.name}', () => false, ['sensitive_config']).optional(),
  })
  .superRefine(({ user: name, password }, context) => {
    if ((name === undefined) !== (password === undefined))
      context.addIssue({ code: 'custom', message: 'Expected user and password together.' });
  });

const messageFields = {
  from: ofOperator('an address', (said) => parseAddress(said) !== undefined)
    .optional()
    .describe('Who it is from: an address, or {config.name} of the calling agent.'),
  from_name: ofOperator('a name on one line', (name) => !NOT_IN_LINE.test(name))
    .optional()
    .describe('The name beside it.'),
  to: addresses.optional().describe('An address, a placeholder, or a list of them.'),
  cc: addresses.optional(),
  bcc: addresses.optional().describe('They get the message, and stand in no header of it.'),
  reply_to: addresses.optional(),
  subject: line.optional().describe('One line of text with placeholders.'),
  text: text.optional().describe('The message as text. Made out of html where there is only that.'),
  html: text
    .optional()
    .describe(
      'The message as HTML. Values that stand in a text of yours are escaped; a lone {placeholder} is HTML itself.',
    ),
  attachments: place((template) =>
    soleName(template) === undefined ? 'Expected one placeholder and nothing else.' : secretProblem(template),
  )
    .optional()
    .describe('A placeholder for a list of {filename, base64, content_type}.'),
};

const messageSchema = z.strictObject(messageFields);

export type MessageOptions = z.output<typeof messageSchema>;

export const smtpOptionsSchema = z
  .strictObject({
    connection: z.string().min(1).describe('Name of a connection of type smtp.'),
    server: server
      .optional()
      .describe(
        'What each agent has of its own: host and port over a connection without host, user and password.',
      ),
    ...messageFields,
    actions: z
      .record(z.string(), messageSchema)
      .optional()
      .describe('One message for each action of the tool.'),
    recipients: z
      .strictObject({
        allow: z
          .array(ofOperator(RULE_EXPECTED, (rule) => parseRule(rule) !== undefined))
          .min(1)
          .describe(
            `Whom it may write to: ${RULE_EXPECTED}; {config.name} for what an agent has configured.`,
          ),
        max: whole(1, 100)
          .optional()
          .describe(`Of one message, copies included; ${DEFAULT_MOST_RECIPIENTS} when left out.`),
      })
      .optional()
      .describe(
        'Whom arguments may name as recipients, and for answers. Those that stand here themselves, or are configured for the agent, need no leave.',
      ),
    max_attachment_bytes: whole(0, MOST_ATTACHMENT_BYTES)
      .optional()
      .describe('Of all attachments together, decoded; 5 MiB when left out, 0 for none.'),
    upstream_errors: z
      .enum(['show', 'hide'])
      .optional()
      .describe(
        "Whether callers read the mail server's words: bounded, and without secrets. show when left out.",
      ),
  })
  .superRefine((options, context) => {
    const { actions } = options;
    const messages = actions === undefined ? [['', options] as const] : Object.entries(actions);
    for (const [name, message] of messages)
      for (const [field, problem] of problemsOf(message)) {
        const path = name === '' ? [field] : ['actions', name, field];
        context.addIssue({ code: 'custom', path, message: problem });
      }
    if (options.recipients === undefined && messages.some(([, message]) => namesSomebody(message)))
      context.addIssue({
        code: 'custom',
        path: ['recipients'],
        message: 'Expected whom arguments may name: recipients: { allow: […] }.',
      });
    if (actions === undefined) return;
    for (const field of Object.keys(messageFields)) {
      if (options[field as keyof MessageOptions] === undefined) continue;
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `With actions, "${field}" belongs to each action.`,
      });
    }
  });

export type SmtpOptions = z.output<typeof smtpOptionsSchema>;

/** True if an argument says who gets the message, or the answers. */
function namesSomebody({ to, cc, bcc, reply_to: replyTo }: MessageOptions): boolean {
  return [to, cc, bcc, replyTo]
    .flat()
    .some((said) => said !== undefined && mailTemplate(said).names.some((name) => !name.includes('.')));
}

function problemsOf({ from, to, cc, bcc, subject, text: plain, html }: MessageOptions): [string, string][] {
  return [
    ...(from === undefined ? [['from', 'Expected who the message is from.'] as [string, string]] : []),
    ...((to ?? cc ?? bcc) === undefined
      ? [['to', 'Expected who the message is for.'] as [string, string]]
      : []),
    ...(subject === undefined ? [['subject', 'Expected a subject.'] as [string, string]] : []),
    ...((plain ?? html) === undefined ? [['text', 'Expected text, html or both.'] as [string, string]] : []),
  ];
}

export interface Place {
  readonly name: string;
  readonly path: readonly string[];
}

/** Every place that an argument, or what an agent has configured, fills. */
export function placesOf({ actions, server: own = {}, recipients, ...message }: SmtpOptions): Place[] {
  const messages =
    actions === undefined
      ? placesIn(message, [])
      : Object.entries(actions).flatMap(([name, each]) => placesIn(each, ['actions', name]));
  const ofServer = Object.entries(own).flatMap(([field, said]) =>
    [said].flat().flatMap((each) => (typeof each === 'string' ? namesIn(each, ['server', field]) : [])),
  );
  const rules = (recipients?.allow ?? []).flatMap((rule, index) =>
    namesIn(rule, ['recipients', 'allow', String(index)]),
  );
  return [...messages, ...ofServer, ...rules];
}

function namesIn(said: string, path: readonly string[]): Place[] {
  return mailTemplate(said).names.map((name) => ({ name, path }));
}

function placesIn(message: MessageOptions, at: readonly string[]): Place[] {
  return Object.keys(messageFields).flatMap((field) => {
    const said = message[field as keyof MessageOptions];
    if (said === undefined) return [];
    if (typeof said === 'string') return namesIn(said, [...at, field]);
    return said.flatMap((each, index) => namesIn(each, [...at, field, String(index)]));
  });
}
