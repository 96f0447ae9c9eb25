// The bank of the example: it says what it would have done.
export function transfer({ to, amount }) {
  return { transferred: amount, to };
}

export function send_note({ to }) {
  return { sent: to.length };
}
