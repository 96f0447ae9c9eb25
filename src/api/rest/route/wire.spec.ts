import { expect, it } from 'vitest';
import { z } from 'zod';
import { shape, text, time } from './shapes.ts';
import { wire } from './wire.ts';

const Note = shape(() =>
  z.object({ note_id: text(), said_at: time(), read_at: time().nullable(), by: text().optional() }),
);

it('each field is the property of its name in camelCase, and a time is written in ISO 8601', () => {
  const saidAt = new Date(Date.UTC(2026, 0, 1));
  expect(wire(Note, { noteId: 'n1', saidAt, readAt: null, by: 'ann' })).toEqual({
    note_id: 'n1',
    said_at: '2026-01-01T00:00:00.000Z',
    read_at: null,
    by: 'ann',
  });
});

it('what the shape does not name stays inside, and what is not there is left out', () => {
  const note = { noteId: 'n1', saidAt: '2026', readAt: null, by: undefined, tokenHash: 'secret' };
  expect(Object.keys(wire(Note, note))).toEqual(['note_id', 'said_at', 'read_at']);
});
