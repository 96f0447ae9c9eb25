// Sections by themselves: what is right is as it was said, what is wrong is named and has its default.
import { expect, it } from 'vitest';
import { settingsSchema } from '../settings-schema.ts';
import { rightSections } from './right-sections.ts';

it('gives what was said where it is right, and the default where it is not', () => {
  const { settings, wrong } = rightSections({ host: 7, role: 'worker', http: { port: 'many' }, auth: null });
  expect([...wrong].toSorted()).toEqual(['auth', 'host', 'http']);
  const defaults = settingsSchema.parse({});
  expect(settings).toEqual({ ...defaults, role: 'worker' });
});

it('finds nothing wrong with settings that are right, and is what the whole schema makes of them', () => {
  const values = { grpc: { port: 1 }, modes: {} };
  expect(rightSections(values)).toEqual({ settings: settingsSchema.parse(values), wrong: new Set() });
});
