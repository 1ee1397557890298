"""A class for each error code of the API. Generated from docs/openapi.json by `npm run openapi:accept`; do not edit."""

from __future__ import annotations

from typing import Dict, Type

from .errors import HoldfastError


class InvalidRequestError(HoldfastError):
    pass


class InvalidAddressError(HoldfastError):
    pass


class InvalidDateRangeError(HoldfastError):
    pass


class ScopeNotAcceptedError(HoldfastError):
    pass


class InvalidCursorError(HoldfastError):
    pass


class PasswordLeakedError(HoldfastError):
    pass


class UnauthorizedError(HoldfastError):
    pass


class ForbiddenError(HoldfastError):
    pass


class StepUpRequiredError(HoldfastError):
    pass


class SecondFactorRequiredError(HoldfastError):
    pass


class BudgetExceededError(HoldfastError):
    pass


class NotTheSignerError(HoldfastError):
    pass


class SecondPersonRequiredError(HoldfastError):
    pass


class PasskeyRequiredError(HoldfastError):
    pass


class PasskeyUnknownError(HoldfastError):
    pass


class PasskeyUnconfirmedError(HoldfastError):
    pass


class PasskeyRevokedError(HoldfastError):
    pass


class PasskeyCounterError(HoldfastError):
    pass


class AssertionMismatchError(HoldfastError):
    pass


class AssertionOriginError(HoldfastError):
    pass


class UserVerificationMissingError(HoldfastError):
    pass


class AssertionInvalidError(HoldfastError):
    pass


class AssertionReplayedError(HoldfastError):
    pass


class ViewerNotAllowedError(HoldfastError):
    pass


class ResourceNotFoundError(HoldfastError):
    pass


class MethodNotAllowedError(HoldfastError):
    pass


class RequestTimeoutError(HoldfastError):
    pass


class ConflictError(HoldfastError):
    pass


class OnHoldError(HoldfastError):
    pass


class SignersKeyRequiredError(HoldfastError):
    pass


class SamePersonError(HoldfastError):
    pass


class SameLicenceError(HoldfastError):
    pass


class PerformerOfCorrectedError(HoldfastError):
    pass


class LicenceRequiredError(HoldfastError):
    pass


class LicenceOutOfScopeError(HoldfastError):
    pass


class LicenceExpiredError(HoldfastError):
    pass


class LicenceSuspendedError(HoldfastError):
    pass


class LicenceNotYetValidError(HoldfastError):
    pass


class InspectionRequiredError(HoldfastError):
    pass


class InspectorNotIndependentError(HoldfastError):
    pass


class VaultDeactivatedError(HoldfastError):
    pass


class IdempotencyInProgressError(HoldfastError):
    pass


class PreconditionFailedError(HoldfastError):
    pass


class PayloadTooLargeError(HoldfastError):
    pass


class UnsupportedMediaTypeError(HoldfastError):
    pass


class RangeNotSatisfiableError(HoldfastError):
    pass


class IdempotencyKeyReusedError(HoldfastError):
    pass


class RateLimitExceededError(HoldfastError):
    pass


class RateLimitedError(HoldfastError):
    pass


class HeadersTooLargeError(HoldfastError):
    pass


class InternalError(HoldfastError):
    pass


class ServiceUnavailableError(HoldfastError):
    pass


# By error code.
ERROR_CLASSES: Dict[str, Type[HoldfastError]] = {
    "invalid_request": InvalidRequestError,
    "invalid_address": InvalidAddressError,
    "invalid_date_range": InvalidDateRangeError,
    "scope_not_accepted": ScopeNotAcceptedError,
    "invalid_cursor": InvalidCursorError,
    "password_leaked": PasswordLeakedError,
    "unauthorized": UnauthorizedError,
    "forbidden": ForbiddenError,
    "step_up_required": StepUpRequiredError,
    "second_factor_required": SecondFactorRequiredError,
    "budget_exceeded": BudgetExceededError,
    "not_the_signer": NotTheSignerError,
    "second_person_required": SecondPersonRequiredError,
    "passkey_required": PasskeyRequiredError,
    "passkey_unknown": PasskeyUnknownError,
    "passkey_unconfirmed": PasskeyUnconfirmedError,
    "passkey_revoked": PasskeyRevokedError,
    "passkey_counter": PasskeyCounterError,
    "assertion_mismatch": AssertionMismatchError,
    "assertion_origin": AssertionOriginError,
    "user_verification_missing": UserVerificationMissingError,
    "assertion_invalid": AssertionInvalidError,
    "assertion_replayed": AssertionReplayedError,
    "viewer_not_allowed": ViewerNotAllowedError,
    "resource_not_found": ResourceNotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "request_timeout": RequestTimeoutError,
    "conflict": ConflictError,
    "on_hold": OnHoldError,
    "signers_key_required": SignersKeyRequiredError,
    "same_person": SamePersonError,
    "same_licence": SameLicenceError,
    "performer_of_corrected": PerformerOfCorrectedError,
    "licence_required": LicenceRequiredError,
    "licence_out_of_scope": LicenceOutOfScopeError,
    "licence_expired": LicenceExpiredError,
    "licence_suspended": LicenceSuspendedError,
    "licence_not_yet_valid": LicenceNotYetValidError,
    "inspection_required": InspectionRequiredError,
    "inspector_not_independent": InspectorNotIndependentError,
    "vault_deactivated": VaultDeactivatedError,
    "idempotency_in_progress": IdempotencyInProgressError,
    "precondition_failed": PreconditionFailedError,
    "payload_too_large": PayloadTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "range_not_satisfiable": RangeNotSatisfiableError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "rate_limit_exceeded": RateLimitExceededError,
    "rate_limited": RateLimitedError,
    "headers_too_large": HeadersTooLargeError,
    "internal_error": InternalError,
    "service_unavailable": ServiceUnavailableError,
}
