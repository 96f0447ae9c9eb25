// Whether two names of users mean one person: operators and callers write them as they like.

/** Neither case, width, composition, blanks nor characters that cannot be seen make another person. */
function folded(name: string): string {
  const visible = name.normalize('NFKC').replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cc}\s]/gu, '');
  return visible.toUpperCase().toLowerCase().normalize('NFKC');
}

/** False where either has no name: nobody can tell. */
export function isSamePerson(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const name = folded(one);
  return name !== '' && name === folded(other);
}
