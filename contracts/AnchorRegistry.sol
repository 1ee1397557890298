// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";

/// @title A public register of Merkle roots: who anchored which root, and when.
/// @notice It has no owner, takes no money and cannot be changed. Entries are kept per submitter, so copying somebody
/// else's root only makes an entry of one's own, and nobody can block or backdate another's.
contract AnchorRegistry {
    /// @dev Both fit one slot. A time of 0 means there is no entry. `size` is how many leaves the submitter says the tree
    /// has: a statement, never evidence.
    struct Anchor {
        uint64 time;
        uint64 size;
    }

    event Anchored(address indexed submitter, bytes32 indexed root, uint64 size);

    /// @notice The block time at which a submitter first anchored a root, and the size given then; zeros for none.
    mapping(address submitter => mapping(bytes32 root => Anchor)) public anchors;

    /// @notice Anchors a root for the caller. A repeat succeeds, so that a transaction may safely be sent again, but
    /// writes nothing and logs nothing: the first time stands.
    function anchor(bytes32 root, uint64 size) external {
        Anchor storage entry = anchors[msg.sender][root];
        if (entry.time != 0) return;
        (entry.time, entry.size) = (uint64(block.timestamp), size);
        emit Anchored(msg.sender, root, size);
    }

    /// @notice The time at which `submitter` anchored the root that `leaf` and `proof` lead to; 0 for none.
    /// @dev Pairs are hashed in sorted order, as OpenZeppelin's SimpleMerkleTree does. An inner node passes for a leaf
    /// here: whoever relies on the answer derives `leaf` from its content, by hashing twice.
    function verify(address submitter, bytes32[] calldata proof, bytes32 leaf) external view returns (uint64 time) {
        return anchors[submitter][MerkleProof.processProofCalldata(proof, leaf)].time;
    }
}
