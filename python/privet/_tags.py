"""What scikit-learn wants to know of an estimator; called by it, so it is there."""

from __future__ import annotations

from typing import Any


def new(est: Any) -> Any:
    """Tags from scikit-learn 1.6 on."""
    from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

    tags = Tags(
        estimator_type=est._estimator_type,
        target_tags=TargetTags(required=True),
        transformer_tags=None,
        classifier_tags=ClassifierTags(poor_score=True, multi_class=not est._binary) if est._is_classifier else None,
        regressor_tags=None if est._is_classifier else RegressorTags(poor_score=True),
        input_tags=InputTags(sparse=est.bounds == "row-norm" if isinstance(est.bounds, str) else False),
        non_deterministic=True,
    )
    return tags


def old(est: Any) -> dict[str, Any]:
    """Tags up to scikit-learn 1.5."""
    from sklearn.utils._tags import _DEFAULT_TAGS

    return {
        **_DEFAULT_TAGS,
        "non_deterministic": True,
        "poor_score": True,
        "requires_y": True,
        "binary_only": bool(est._binary),
    }
