// Who may be written to, as operators say it: addresses, domains, the sender's own domain, or anybody.
import { soleName, parseTemplate } from '../../../lib/text/template.ts';
import { misconfigured, type CallValues } from './call-values.ts';
import { parseAddress, parseDomain, type MailAddress } from './mail-address.ts';

export type RecipientRule = (recipient: MailAddress, sender: MailAddress) => boolean;

const ANYBODY = '*';
const OWN_DOMAIN = 'own_domain';

export const RULE_EXPECTED =
  'an address, "@example.com" for a domain, "@*.example.com" for all below it, "own_domain" for the domain of the sender, or "*" for anybody';

/** Undefined: it says nothing that is understood. */
export function parseRule(text: string): RecipientRule | undefined {
  if (text === ANYBODY) return () => true;
  if (text === OWN_DOMAIN) return ({ domain }, sender) => domain === sender.domain;
  const [, below, written] = /^\*?@(\*\.)?([^@]+)$/.exec(text) ?? [];
  if (written !== undefined) {
    const wanted = parseDomain(written);
    if (wanted === undefined) return undefined;
    return below === undefined
      ? ({ domain }) => domain === wanted
      : ({ domain }) => domain.endsWith(`.${wanted}`);
  }
  const wanted = parseAddress(text)?.address.toLowerCase();
  return wanted === undefined ? undefined : ({ address }) => address.toLowerCase() === wanted;
}

type AllowedBy = (values: CallValues) => RecipientRule;

/** Literals are read at load; what an agent has configured, a text or a list, at each call. */
export function compileRules(said: readonly string[]): AllowedBy {
  const parts = said.map((text) => {
    const name = soleName(parseTemplate(text, { ofAgent: true }));
    return name ?? parseRule(text) ?? (() => false);
  });
  return (values) => {
    const rules = parts.flatMap((part) =>
      typeof part === 'string' ? configuredRules(values, part) : [part],
    );
    return (recipient, sender) => rules.some((rule) => rule(recipient, sender));
  };
}

function configuredRules(values: CallValues, name: string): readonly RecipientRule[] {
  const value = values.of(name) ?? [];
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return texts.map((text) => {
    const rule = typeof text === 'string' ? parseRule(text) : undefined;
    if (rule === undefined) throw misconfigured(name, `must be ${RULE_EXPECTED}`);
    return rule;
  });
}
