// Lines of the journal as bytes: each is found whole, with the tenant it names, and those of other forms are written anew.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { auditRecord } from '../../../../test/helpers/audit-kit.ts';
import { auditLine } from '../audit-line.ts';
import { lineText, onlyLines, ownLines, ownLinesOf, recordWork } from './own-lines.ts';

const FOREIGN = JSON.stringify({
  event_id: 'e-1',
  kind: 'outcome',
  at: '2026-01-31T12:00:00.000Z',
  call_kind: 'sync',
  tenant_id: 'acme',
  tool: 'pay',
});

const name = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '"', '\\', ',"tenant_id":"') });

it('every line is found where it is, with its tenant, whatever the names hold', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ tenant: name, user: name }), { maxLength: 6 }), (records) => {
      // Some end where their tenant does.
      const texts = records.map((said) => auditLine(auditRecord({ ...said, session: '' })));
      const lines = ownLines(Buffer.from(texts.join('')));
      expect(lines.tenants).toEqual(records.map(({ tenant }) => tenant));
      expect(texts.map((_, index) => `${lineText(lines, index)}\n`)).toEqual(texts);
      for (const [index, text] of texts.entries()) {
        const chained = lines.bytes.toString('utf8', lines.starts[index], lines.chainedEnds[index]);
        expect(text.startsWith(`${chained},"tenant_id":`)).toBe(true);
      }
    }),
  );
});

it('the last line may end with its tenant, and the one before may be of a longer name', () => {
  const nothing = { user: '', session: '' };
  const long = 'x'.repeat(300);
  for (const tenants of [
    ['acme', ''],
    [long, 'acme'],
    ['', 'b'],
  ]) {
    const texts = tenants.map((tenant) => auditLine(auditRecord({ ...nothing, tenant })));
    expect(ownLines(Buffer.from(texts.join(''))).tenants).toEqual(tenants);
  }
});

it('a line that SQL has made is written anew, in its place, and the others stay as they are', () => {
  const [first, last] = [auditLine(auditRecord()), auditLine(auditRecord({ tenant: 'other' }))];
  const lines = ownLines(Buffer.from(`${first}${FOREIGN}\n${last}`));
  expect(lines.tenants).toEqual(['acme', 'acme', 'other']);
  expect(lineText(lines, 0)).toBe(first.trimEnd());
  expect(JSON.parse(lineText(lines, 1))).toMatchObject({ event_id: 'e-1', intended: true, tool: 'pay' });
  expect(lineText(lines, 2)).toBe(last.trimEnd());
});

it('some of the lines are lines as well', () => {
  const texts = ['a', 'b', 'c'].map((tenant) => auditLine(auditRecord({ tenant })).trimEnd());
  const some = onlyLines(ownLinesOf(texts), [2, 0]);
  expect(some.tenants).toEqual(['c', 'a']);
  expect([lineText(some, 0), lineText(some, 1)]).toEqual([texts[2], texts[0]]);
});

it.each([
  ['nothing', '\n'],
  ['no JSON', '{"event_id":"x"\n'],
  ['no record', '{}\n'],
  ['null', 'null\n'],
  ['a record without a time', '{"event_id":"x","kind":"outcome","at":"never","tenant_id":"acme"}\n'],
  ['a tenant that does not end', '{"at":"2026-01-31T12:00:00.000Z","tenant_id":"acme\n'],
  ['a tenant that is half of a character', '{"at":"x","tenant_id":"x\\ud800"}\n'],
])('%s is no line, and no message repeats a part of it', (_which, text) => {
  expect(() => ownLines(Buffer.from(text))).toThrow(new SyntaxError('this is no line of an audit journal'));
});

it('bytes that are no UTF-8 are no line: replaced, they would not be what the chain covers', () => {
  const bytes = Buffer.from(auditLine(auditRecord({ user: 'ann' })));
  bytes[bytes.indexOf('ann')] = 0xff;
  expect(() => ownLines(bytes)).toThrow(SyntaxError);
});

it('a text of two lines is not two records', () => {
  const two = `${auditLine(auditRecord())}${auditLine(auditRecord())}`.trimEnd();
  expect(() => ownLinesOf([two])).toThrow(SyntaxError);
});

it('whatever fails while a line is read is the fault of the line', () => {
  const work = () => recordWork(() => JSON.parse('{"secret":') as unknown);
  expect(work).toThrow(new SyntaxError('this is no line of an audit journal'));
});
