import { signing } from '#signing';
import { fromHex, toHex } from '../../src/base/bytes.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { peopleMaxOf } from '../../src/base/people.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { channelKeys, type ChannelKeys } from '../../src/signing/channel-keys-node.js';
import {
  keysOfRotation, openMessage, verifyHello, type SignatureContext, type Verifier,
} from '../../src/signing/index.js';
import { sharePlansOf } from '../../src/sealed/shares/study-shares.js';
import type { Hello, Open, Ready, Spend } from '../../src/wire/messages.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { StudyView } from '../studies/contract.js';
import type { ContributorState } from '../store/contract.js';
import type { ListenerContext } from './context.js';
import type { BatchSetup } from './channel.js';
import type { OwnShare } from './key-shares.js';
import { takesEncryptedOnly } from './refusal-texts.js';
import type { StrikeKind } from './strikes.js';
import { alwaysEnrolled, claimedEnrolment, type EnrolledTime } from './enrolment.js';

/** A Hello or Open whose sender proved its key and may contribute. */
export interface Admitted {
  readonly view: StudyView;
  readonly setup: BatchSetup;
  /** The keys of the channel that Open asks for; null after Hello. */
  readonly keys: ChannelKeys | null;
}

/** A Hello or Open that opens no channel. */
export interface NotAdmitted {
  readonly code: WireCode;
  /** The cause, where the code has several. */
  readonly fault?: string;
  /** A fault that no honest client has often, for example a wrong signature. */
  readonly strike?: StrikeKind;
}

/** The statements of Welcome on this socket. */
export interface Greeted {
  /** So that a recorded Hello or Open is useless on another socket. */
  readonly serverNonce: Uint8Array;
  /** Null on a socket without encrypted channels. */
  readonly share: OwnShare | null;
}

const refused = (code: WireCode): NotAdmitted => ({ code });
const forged = (code: WireCode): NotAdmitted => ({ code, strike: 'badSignature' });

/**
 * The checks of a Hello or Open that need no store, cheapest first. A study that has stopped still
 * welcomes its contributors: if their last ack was lost, Ready shows the fate of their batches. New
 * batches are refused one by one.
 */
export function judgeHello(
  context: ListenerContext, hello: Hello | Open, greeted: Greeted,
): Admitted | NotAdmitted {
  const { hub } = context;
  if (hello.kind === 'open' && greeted.share!.isOver) return refused('stale-share');
  const view = hub.study(toHex(hello.studyId));
  if (view === undefined) return refused('unknown-study');
  const isSealed = view.document.sealed !== undefined;
  // Its three servers check the signature of each entry.
  if (hello.kind === 'open' && isSealed) return refused('unsupported');
  // Refused here, and not with the first batch, so that no row has been sent in the clear.
  if (hello.kind === 'hello' && context.encryptedOnly && !isSealed) {
    return { code: 'unsupported', fault: takesEncryptedOnly };
  }
  const claim = claimedEnrolment(view.document, hello.enrolment);
  if (typeof claim === 'string') return refused(claim);
  const verifier = verifierOf(hello.publicKey);
  if (verifier === undefined) return refused('invalid-key');
  const signed = { serverKey: hub.serverKey, studyId: hello.studyId };
  const message = hello.kind === 'open' ? messageOf(hello, signed, greeted) : null;
  if (!isProven(hello, verifier, signed, greeted, message)) return forged('bad-signature');
  if (!hub.admits(view.studyId, hello.publicKey)) return refused('key-not-allowed');
  if (claim !== null && !claim.isIssuedTo(hello.publicKey)) return forged('not-enrolled');
  const setup = setupOf(context, view, verifier, claim ?? alwaysEnrolled);
  if (hello.kind === 'hello') return { view, setup, keys: null };
  const agreed = greeted.share!.agree(hello.clientShare);
  if (agreed === 'over') return refused('stale-share');
  if (agreed === 'zero') return { code: 'malformed', strike: 'malformed' };
  return { view, setup, keys: channelKeys(agreed, message!) };
}

/** M of an Open on this socket. */
function messageOf(
  { publicKey, clientShare }: Open, signed: SignatureContext, { serverNonce, share }: Greeted,
): Uint8Array {
  const shares = { serverNonce, share: share!.stated.share, clientShare };
  return openMessage(publicKey, signed, shares, signing);
}

function isProven(
  hello: Hello | Open, verifier: Verifier, signed: SignatureContext, { serverNonce }: Greeted,
  message: Uint8Array | null,
): boolean {
  if (hello.kind === 'open') return verifier.verify(message!, hello.signature);
  const nonces = { serverNonce, clientNonce: hello.clientNonce };
  return verifyHello(verifier, signed, nonces, hello.signature);
}

/** The facts that batches of a contributor are checked against. */
export function setupOf(
  { hub, limits }: ListenerContext, view: StudyView, verifier: Verifier, enrolled: EnrolledTime,
): BatchSetup {
  const { document } = view;
  const { admission, columns, types, contribution } = document;
  const studyId = fromHex(view.studyId);
  return {
    studyId: view.studyId,
    studyName: view.name,
    verifier,
    signatures: { serverKey: hub.serverKey, studyId },
    earlier: hub.rotations
      .map((rotation) => ({ serverKey: keysOfRotation(rotation).previousKey, studyId })),
    dimension: columns.length, types, ...sealedForm(document),
    enrolled,
    facts: {
      limits, columns, rowsMax: contribution.rowsMax, peopleMax: peopleMaxOf(document),
      ...(admission.kind === 'rate' && { newKeys: admission }),
    },
  };
}

/** The form of the entries of a sealed study; empty for other studies. */
function sealedForm(document: StudyDocument): Pick<BatchSetup, 'sealed'> {
  const { sealed } = document;
  return sealed === undefined ? {}
    : { sealed: sharePlansOf({ ...document, sealed }).map(({ form }) => form) };
}

/** The server's answer to an admitted Hello or Open, but for its signature. */
export async function readyFrom(
  context: ListenerContext,
  hello: Hello | Open,
  channel: number,
  state: ContributorState,
): Promise<Omit<Ready, 'signature'>> {
  const { hub, limits } = context;
  const studyId = toHex(hello.studyId);
  const ownSpend = await spendOf(context, studyId, state);
  const { epoch = 0n, boxKeys } = hub.study(studyId) ?? {};
  return {
    kind: 'ready',
    channel,
    studyId: hello.studyId,
    publicKey: hello.publicKey,
    epoch,
    nextSequence: state.nextSequence,
    holes: state.holes,
    credit: limits.creditBatches,
    ownSpend,
    ...(boxKeys !== undefined && { boxKeys }),
  };
}

/** @returns undefined for a key that is none of a contributor. */
export function verifierOf(publicKey: Uint8Array): Verifier | undefined {
  try {
    return signing.createVerifier(publicKey);
  } catch {
    // Catches more than WireError: node:crypto may refuse bytes that are no point of the curve.
    return undefined;
  }
}

/**
 * A contributor's own spending. Only that contributor sees it, and only under contributor scope.
 */
async function spendOf(
  context: ListenerContext, studyId: string, state: ContributorState,
): Promise<Spend | null> {
  const view = context.hub.study(studyId);
  if (state.spend === null || view === undefined || view.document.budget.scope !== 'contributor') {
    return null;
  }
  const balance =
    (await context.hub.balances()).find((candidate) => candidate.key === `study:${view.name}`);
  if (balance === undefined) return null;
  return {
    rho: amountToNumber(state.spend.rho),
    rhoCap: amountToNumber(balance.rhoCap),
    delta: amountToNumber(state.spend.delta),
    deltaCap: amountToNumber(balance.deltaCap),
  };
}
