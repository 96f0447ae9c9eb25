// What is called later: a reminder, and something that nobody should schedule alone.
export function remind({ message }, context) {
  context.logger.info(message);
  return { reminded_of: message };
}

export function clear_drafts() {
  return { cleared: 0 };
}
