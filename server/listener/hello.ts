import { signing } from '#signing';
import { fromHex, toHex } from '../../src/base/bytes.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { peopleMaxOf } from '../../src/base/people.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { keysOfRotation, verifyHello, type Verifier } from '../../src/signing/index.js';
import { sharePlansOf } from '../../src/sealed/shares/study-shares.js';
import type { Hello, Spend } from '../../src/wire/messages.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { StudyView } from '../studies/contract.js';
import type { ContributorState } from '../store/contract.js';
import type { ListenerContext } from './context.js';
import type { BatchSetup } from './channel.js';
import { alwaysEnrolled, claimedEnrolment, type EnrolledTime } from './enrolment.js';

/** A Hello whose sender proved its key and may contribute. */
export interface Admitted {
  readonly view: StudyView;
  readonly setup: BatchSetup;
}

/** A Hello that opens no channel. */
export interface NotAdmitted {
  readonly code: WireCode;
  /** A signature was wrong. It cost a verification, and no honest client sends many. */
  readonly forged: boolean;
}

const refused = (code: WireCode): NotAdmitted => ({ code, forged: false });

/**
 * The checks of a Hello that need no store, cheapest first. A study that has stopped still welcomes
 * its contributors: if their last ack was lost, Ready shows the fate of their batches. New batches
 * are refused one by one.
 * @param serverNonce of this socket, so that a recorded Hello is useless on another socket.
 */
export function judgeHello(
  context: ListenerContext, hello: Hello, serverNonce: Uint8Array,
): Admitted | NotAdmitted {
  const { hub } = context;
  const view = hub.study(toHex(hello.studyId));
  if (view === undefined) return refused('unknown-study');
  const claim = claimedEnrolment(view.document, hello.enrolment);
  if (typeof claim === 'string') return refused(claim);
  const verifier = verifierOf(hello.publicKey);
  if (verifier === undefined) return refused('invalid-key');
  const { studyId } = hello;
  const nonces = { serverNonce, clientNonce: hello.clientNonce };
  if (!verifyHello(verifier, { serverKey: hub.serverKey, studyId }, nonces, hello.signature)) {
    return { code: 'bad-signature', forged: true };
  }
  if (!hub.admits(view.studyId, hello.publicKey)) return refused('key-not-allowed');
  if (claim !== null && !claim.isIssuedTo(hello.publicKey)) {
    return { code: 'not-enrolled', forged: true };
  }
  return { view, setup: setupOf(context, view, verifier, claim ?? alwaysEnrolled) };
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

/** The server's answer to an admitted Hello. */
export async function readyFrom(
  context: ListenerContext,
  hello: Hello,
  serverNonce: Uint8Array,
  channel: number,
  state: ContributorState,
) {
  const { hub, limits } = context;
  const studyId = toHex(hello.studyId);
  const ownSpend = await spendOf(context, studyId, state);
  const { epoch = 0n, boxKeys } = hub.study(studyId) ?? {};
  return {
    kind: 'ready',
    channel,
    studyId: hello.studyId,
    publicKey: hello.publicKey,
    signature: hub.signReady(studyId, hello.publicKey, serverNonce, hello.clientNonce),
    epoch,
    nextSequence: state.nextSequence,
    holes: state.holes,
    credit: limits.creditBatches,
    ownSpend,
    ...(boxKeys !== undefined && { boxKeys }),
  } as const;
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
