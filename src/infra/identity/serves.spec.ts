// For which tenant a request is: never for one that its credential does not serve, whatever it names.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { principalOf } from '../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { inTenant, servesOf, stillServes, type Identity, type Serves } from './serves.ts';

function identityOf(serves: Serves): Identity {
  const tenantId = serves.kind === 'one' ? serves.tenant : '';
  return { serves, principal: principalOf({ tenantId }) };
}

function told(serves: Serves, named: string | undefined): string {
  try {
    return `for ${inTenant(identityOf(serves), named).tenantId}`;
  } catch (error) {
    if (error instanceof ToolFailure) return `${error.type} ${error.reason}`;
    throw error;
  }
}

const REQUIRED = 'VALIDATION TENANT_REQUIRED';
const NOT_ALLOWED = 'PERMISSION_DENIED TENANT_NOT_ALLOWED';
const MISMATCH = 'PERMISSION_DENIED TENANT_MISMATCH';
const one = (tenant: string): Serves => ({ kind: 'one', tenant });

describe('the tenant of a request', () => {
  it.each([
    ['one', one('acme'), undefined, 'for acme'],
    ['one', one('acme'), 'acme', 'for acme'],
    ['one', one('acme'), 'umbrella', MISMATCH],
    ['one', one('acme'), '', MISMATCH],
    ['none', one(''), undefined, 'for '],
    ['none', one(''), 'acme', NOT_ALLOWED],
    ['two', servesOf(['acme', 'umbrella']), undefined, REQUIRED],
    ['two', servesOf(['acme', 'umbrella']), 'umbrella', 'for umbrella'],
    ['two', servesOf(['acme', 'umbrella']), 'wayne', NOT_ALLOWED],
    ['two', servesOf(['acme', 'umbrella']), 'Acme', NOT_ALLOWED],
    ['two', servesOf(['acme', 'umbrella']), '', NOT_ALLOWED],
    ['two', servesOf(['acme', 'umbrella']), '*', NOT_ALLOWED],
    ['any', servesOf(['*']), undefined, REQUIRED],
    ['any', servesOf(['*']), 'wayne', 'for wayne'],
    ['any', servesOf(['*']), '*', NOT_ALLOWED],
    ['any', servesOf(['*']), '', NOT_ALLOWED],
    ['any', servesOf(['*']), 'a\u0000b', NOT_ALLOWED],
    ['any', servesOf(['*']), '\u202Eacme', NOT_ALLOWED],
    ['any', servesOf(['*']), 'x'.repeat(201), NOT_ALLOWED],
    ['any', servesOf(['*']), 'Acme Ltd', 'for Acme Ltd'],
    ['any', servesOf(['*']), 'acme ', NOT_ALLOWED],
    ['any', servesOf(['*']), '\u00A0acme', NOT_ALLOWED],
    ['any', servesOf(['*']), ' ', NOT_ALLOWED],
    ['a list of one', servesOf(['acme']), undefined, 'for acme'],
    ['a star among names', servesOf(['acme', '*']), 'wayne', MISMATCH],
    ['nobody', servesOf([]), 'acme', NOT_ALLOWED],
    ['nobody', servesOf([]), undefined, REQUIRED],
  ] as const)('of a credential for %s: %j names %j: %s', (_whose, serves, named, expected) => {
    expect(told(serves, named)).toBe(expected);
  });

  it('is the named one or the only one, and one that the credential serves, for any list and any name', () => {
    const tenant = fc.oneof(fc.constantFrom('acme', 'umbrella', 'wayne', '*', ''), fc.string());
    fc.assert(
      fc.property(
        fc.array(tenant, { maxLength: 4 }),
        fc.option(tenant, { nil: undefined }),
        (list, named) => {
          const said = told(servesOf(list), named);
          if (!said.startsWith('for ')) return;
          const found = said.slice(4);
          expect(found).not.toBe('');
          expect(found).not.toContain('*');
          expect(named ?? found).toBe(found);
          expect(list.join() === '*' || list.includes(found)).toBe(true);
        },
      ),
    );
  });

  it('is the one of then for a call that was made before, as long as it is served', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 4 }), fc.string(), (list, tenant) => {
        const serves = servesOf(list);
        expect(stillServes(identityOf(serves), tenant)).toBe(told(serves, tenant) === `for ${tenant}`);
      }),
    );
  });
});
