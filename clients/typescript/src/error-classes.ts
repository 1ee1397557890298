/** A class for each error code of the API. Generated from docs/openapi.json by `npm run openapi:accept`; do not edit. */
import { HoldfastError } from './holdfast-error.ts';

export class InvalidRequestError extends HoldfastError {}
export class InvalidAddressError extends HoldfastError {}
export class InvalidDateRangeError extends HoldfastError {}
export class ScopeNotAcceptedError extends HoldfastError {}
export class InvalidCursorError extends HoldfastError {}
export class PasswordLeakedError extends HoldfastError {}
export class UnauthorizedError extends HoldfastError {}
export class ForbiddenError extends HoldfastError {}
export class StepUpRequiredError extends HoldfastError {}
export class SecondFactorRequiredError extends HoldfastError {}
export class BudgetExceededError extends HoldfastError {}
export class NotTheSignerError extends HoldfastError {}
export class SecondPersonRequiredError extends HoldfastError {}
export class PasskeyRequiredError extends HoldfastError {}
export class PasskeyUnknownError extends HoldfastError {}
export class PasskeyUnconfirmedError extends HoldfastError {}
export class PasskeyRevokedError extends HoldfastError {}
export class PasskeyCounterError extends HoldfastError {}
export class AssertionMismatchError extends HoldfastError {}
export class AssertionOriginError extends HoldfastError {}
export class UserVerificationMissingError extends HoldfastError {}
export class AssertionInvalidError extends HoldfastError {}
export class AssertionReplayedError extends HoldfastError {}
export class ViewerNotAllowedError extends HoldfastError {}
export class ResourceNotFoundError extends HoldfastError {}
export class MethodNotAllowedError extends HoldfastError {}
export class RequestTimeoutError extends HoldfastError {}
export class ConflictError extends HoldfastError {}
export class OnHoldError extends HoldfastError {}
export class SignersKeyRequiredError extends HoldfastError {}
export class SamePersonError extends HoldfastError {}
export class SameLicenceError extends HoldfastError {}
export class PerformerOfCorrectedError extends HoldfastError {}
export class LicenceRequiredError extends HoldfastError {}
export class LicenceOutOfScopeError extends HoldfastError {}
export class LicenceExpiredError extends HoldfastError {}
export class LicenceSuspendedError extends HoldfastError {}
export class LicenceNotYetValidError extends HoldfastError {}
export class InspectionRequiredError extends HoldfastError {}
export class InspectorNotIndependentError extends HoldfastError {}
export class VaultDeactivatedError extends HoldfastError {}
export class IdempotencyInProgressError extends HoldfastError {}
export class PreconditionFailedError extends HoldfastError {}
export class PayloadTooLargeError extends HoldfastError {}
export class UnsupportedMediaTypeError extends HoldfastError {}
export class RangeNotSatisfiableError extends HoldfastError {}
export class IdempotencyKeyReusedError extends HoldfastError {}
export class RateLimitExceededError extends HoldfastError {}
export class RateLimitedError extends HoldfastError {}
export class HeadersTooLargeError extends HoldfastError {}
export class InternalError extends HoldfastError {}
export class ServiceUnavailableError extends HoldfastError {}

/** By `errorCode`. */
export const errorClasses = {
  invalid_request: InvalidRequestError,
  invalid_address: InvalidAddressError,
  invalid_date_range: InvalidDateRangeError,
  scope_not_accepted: ScopeNotAcceptedError,
  invalid_cursor: InvalidCursorError,
  password_leaked: PasswordLeakedError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  step_up_required: StepUpRequiredError,
  second_factor_required: SecondFactorRequiredError,
  budget_exceeded: BudgetExceededError,
  not_the_signer: NotTheSignerError,
  second_person_required: SecondPersonRequiredError,
  passkey_required: PasskeyRequiredError,
  passkey_unknown: PasskeyUnknownError,
  passkey_unconfirmed: PasskeyUnconfirmedError,
  passkey_revoked: PasskeyRevokedError,
  passkey_counter: PasskeyCounterError,
  assertion_mismatch: AssertionMismatchError,
  assertion_origin: AssertionOriginError,
  user_verification_missing: UserVerificationMissingError,
  assertion_invalid: AssertionInvalidError,
  assertion_replayed: AssertionReplayedError,
  viewer_not_allowed: ViewerNotAllowedError,
  resource_not_found: ResourceNotFoundError,
  method_not_allowed: MethodNotAllowedError,
  request_timeout: RequestTimeoutError,
  conflict: ConflictError,
  on_hold: OnHoldError,
  signers_key_required: SignersKeyRequiredError,
  same_person: SamePersonError,
  same_licence: SameLicenceError,
  performer_of_corrected: PerformerOfCorrectedError,
  licence_required: LicenceRequiredError,
  licence_out_of_scope: LicenceOutOfScopeError,
  licence_expired: LicenceExpiredError,
  licence_suspended: LicenceSuspendedError,
  licence_not_yet_valid: LicenceNotYetValidError,
  inspection_required: InspectionRequiredError,
  inspector_not_independent: InspectorNotIndependentError,
  vault_deactivated: VaultDeactivatedError,
  idempotency_in_progress: IdempotencyInProgressError,
  precondition_failed: PreconditionFailedError,
  payload_too_large: PayloadTooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  range_not_satisfiable: RangeNotSatisfiableError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  rate_limit_exceeded: RateLimitExceededError,
  rate_limited: RateLimitedError,
  headers_too_large: HeadersTooLargeError,
  internal_error: InternalError,
  service_unavailable: ServiceUnavailableError,
} as const;
