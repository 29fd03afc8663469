import { type SessionContext, scopeOf } from '../session-context.ts'
import { shownSkills } from '../skill-access.ts'
import type { NestedLink } from './nested-link.ts'
import type { NestedLinks, Place } from './nested-links.ts'
import { type Candidate, candidateOf, type Destination, type Origins } from './routes.ts'

/** Where a claimed request goes, or why it can't go anywhere. */
export type NestedClaim = (Destination & { link: NestedLink }) | { failed: unknown }

export interface ClaimSources {
  links: NestedLinks
  tasks: Origins
  resources: Origins
  warn(error: unknown): void
}

/** The claim on a request, where a nested server is meant: at once where the link to it is there, else once its workspace is open. */
export function claimOf(
  context: SessionContext,
  { method, params }: { method: string; params: Record<string, unknown> },
  sources: ClaimSources,
): NestedClaim | undefined | Promise<NestedClaim | undefined> {
  const { links, tasks, resources } = sources
  const { own } = links
  if (own === undefined) return links.loadOwn().then(() => claimOf(context, { method, params }, sources))
  const candidate = candidateOf(method, params, { own, tasks, resources })
  if (candidate === undefined) return undefined
  const place = { scope: scopeOf(context, params), ref: candidate.ref }
  const link = links.peek(place)
  const claim = link === undefined ? claimLater(candidate, place, sources) : claimOn(link, candidate)
  return claim === undefined || candidate.skill === undefined ? claim : unlessSkill(context, { ...candidate, params }, claim)
}

async function claimLater(candidate: Candidate, place: Place, sources: ClaimSources): Promise<NestedClaim | undefined> {
  if (!candidate.certain && !(await isKnown(candidate, place, sources))) return undefined
  try {
    return claimOn(await sources.links.open(place), candidate)
  } catch (error) {
    return { failed: error }
  }
}

/** The names of skills are Atelier's own: as a prompt, the skill is meant. */
async function unlessSkill(
  context: SessionContext,
  { skill, params }: { skill?: string; params: Record<string, unknown> },
  claim: NestedClaim | Promise<NestedClaim | undefined>,
): Promise<NestedClaim | undefined> {
  const found = await claim
  if (found === undefined) return undefined
  const skills = await shownSkills(context, scopeOf(context, params))
  return skills.some(({ name }) => name === skill) ? undefined : found
}

async function isKnown(candidate: Candidate, place: Place, { links, warn }: ClaimSources): Promise<boolean> {
  try {
    const known = await links.known(place)
    return known !== undefined && candidate.find(known) !== undefined
  } catch (error) {
    warn(error)
    return false
  }
}

function claimOn(link: NestedLink, candidate: Candidate): NestedClaim | undefined {
  const found = candidate.find(link.catalogue, link)
  return found && { ...found, link }
}
