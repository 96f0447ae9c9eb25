// extract_contacts: by their form alone, in time that grows with the text.

const EMAIL = /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}/g;
const PHONE = /\+?\d(?:[ ()./-]{0,2}\d){6,14}/g;

export function execute({ text }) {
  const emails = new Set((text.match(EMAIL) ?? []).map((found) => found.toLowerCase()));
  const phones = new Set((text.match(PHONE) ?? []).map((found) => found.replaceAll(/[^\d+]/g, '')));
  return { emails: [...emails], phones: [...phones] };
}
