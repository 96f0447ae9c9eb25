// delete_note: deletes a note for good. The demo's dangerous tool: it needs a human's approval before it runs.

const notes = new Map([
  ['note-1', 'Call the dentist back'],
  ['note-2', 'Order printer paper'],
  ['note-3', 'Wi-Fi password for guests is on the fridge'],
]);

export function execute({ note_id: noteId }) {
  const text = notes.get(noteId);
  if (text === undefined) {
    return {
      ok: false,
      error: {
        type: 'NOT_FOUND',
        message: `There is no note "${noteId}".`,
        retryable: false,
        partial_side_effects: false,
      },
    };
  }
  notes.delete(noteId);
  return { deleted: noteId, text, remaining: notes.size };
}
